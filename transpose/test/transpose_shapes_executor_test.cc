// The kernels for certain shapes, on the host executor, over those shapes and their limits, what
// they do to memory where they are fast, and the choice of `auto` among them.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/executor/executor.h"
#include "common/executor/profile.h"
#include "gtest/gtest.h"
#include "transpose/dispatch.h"
#include "transpose/host_executor.h"
#include "transpose/registry.h"
#include "transpose/test/executor_fixture.h"
#include "transpose/test/run_on_executor.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {
namespace {

using executor::EventKind;

constexpr int64_t kElementSizes[] = {1, 2, 4, 8, 16};

using TransposeShapesExecutorTest = TransposeOnExecutorTest;

// `auto` runs each kernel of its table for some shape, with the launch that the kernel makes when
// it is called by name.
TEST_F(TransposeShapesExecutorTest, AutoRunsEveryKernelOfItsTable) {
  const struct {
    const char* want;
    TransposeCase shape;
    int64_t element_bytes;
  } cases[] = {
      {"batch_small", {7, 5, 0, 0, 1001, 0}, 4},
      {"batch_small", {3, 2, 0, 0, 1500, 0}, 16},
      {"one_line", {1, 1000, 0}, 4},
      {"one_line", {1000, 1, 0}, 1},
      {"tile_small", {128, 192, 0}, 4},
      {"tile_small", {511, 1023, 0}, 4},
      {"tile_small", {3, 1000, 0}, 1},
      {"tile_small", {7, 5, 1, 0, 2, 0}, 4},
      {"tile_small", {31, 200, 0, 0, 3, 0}, 8},
      {"few_columns", {200001, 3, 0}, 4},
      {"few_columns", {45000, 48, 0}, 1},
      {"few_planes", {200000, 3, 0}, 4},
      {"few_planes", {4, 300000, 0}, 2},
      {"few_rows", {3, 200001, 0}, 4},
      {"few_rows", {20, 7000, 0}, 16},
      {"few_rows", {70, 40, 0, 0, 101, 0}, 8},
      {"tile_strips", {20, 32, 0, 0, 1001}, 1},
      {"tile_flat", {68, 497, 0, 0, 70}, 1},
      {"weave_rows", {5, 9, 0, 0, 1001}, 1},
      {"tile_bytes", {445, 49, 0, 0, 100}, 1},
      {"tile_small", {512, 1024, 0}, 4},
      {"tile_vector", {512, 1024, 0}, 8},
      {"tile_vector", {128, 1022, 0}, 16},
      {"tile_ragged", {511, 1535, 0}, 4},
      {"tile_ragged", {512, 1536, 1}, 4},
      {"tile_ragged", {1002, 2016, 0}, 1},
      {"tile_ragged", {512, 3072, 0, 0, 1, 0, 1, 0}, 2},
  };
  std::set<std::string> run;
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.want << " for " << c.shape);
    const executor::LaunchReport chosen = ReportOf("auto", c.shape, c.element_bytes);
    const executor::LaunchReport want = ReportOf(c.want, c.shape, c.element_bytes);
    EXPECT_EQ(chosen.kernel, want.kernel);
    EXPECT_EQ(chosen.shared_bytes, want.shared_bytes);
    EXPECT_EQ(chosen.grid.x * chosen.grid.y * chosen.grid.z,
              want.grid.x * want.grid.y * want.grid.z);
    EXPECT_EQ(chosen.block.x, want.block.x);
    EXPECT_TRUE(chosen.profile == want.profile);
    run.insert(c.want);
  }
  for (const TransposeDispatch& row : TransposeDispatchTable()) {
    // They take 256 MB and more, which dispatch_test has; tests below run them by name.
    if (row.implementation == std::string("tile_wide")) continue;
    if (row.implementation == std::string("tile_ragged_wide")) continue;
    EXPECT_EQ(run.count(row.implementation), 1u) << row.implementation;
  }
}

// Out rows of one to three tiles, which begin and end anywhere: vectors that a row has in part are
// stored by elements of columns that begin alike.
TEST_F(TransposeShapesExecutorTest, EndsOfRaggedRows) {
  for (const int64_t element_bytes : {1, 2}) {
    for (const int64_t rows : {64, 65, 71, 80, 98, 128, 255, 300, 320}) {
      for (const int64_t cols : {128, 129, 200, 337}) {
        RunCase("tile_ragged", {rows, cols, 0, 0}, element_bytes);
        RunCase("tile_ragged", {rows, cols, rows % 16, 0, 1, 0, 3, 1}, element_bytes);
      }
    }
    for (const int64_t gap : {0, 1, 5}) {
      RunCase("tile_ragged", {99, 131, 0, 0, 3, gap, 1, gap}, element_bytes);
      RunCase("tile_ragged", {150, 140, gap, 0, 2, gap, 0, 3}, element_bytes);
    }
  }
}

// The shapes of its tiles, and extents before, at and behind those of a tile.
TEST_F(TransposeShapesExecutorTest, SmallTiles) {
  for (const int64_t element_bytes : kElementSizes) {
    for (const int64_t rows : {1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33, 70, 130}) {
      for (const int64_t cols : {1, 2, 3, 4, 7, 8, 15, 16, 20, 32, 33, 65, 129}) {
        RunCase("tile_small", {rows, cols, 0}, element_bytes);
        if (rows * cols > 2000) continue;
        RunCase("tile_small", {rows, cols, 1, 2, 3, 1, 1, 3}, element_bytes);
      }
    }
  }
}

// Up to several blocks, whose threads have several vectors each, and elements after the last
// vector.
TEST_F(TransposeShapesExecutorTest, OneRowOrColumnOfAnyLength) {
  for (const int64_t element_bytes : kElementSizes) {
    for (const int64_t count : {1, 15, 16, 17, 1023, 1025, 4097, 40003}) {
      RunCase("one_line", {1, count, 0}, element_bytes);
      RunCase("one_line", {count, 1, 0}, element_bytes);
    }
  }
}

// Rows that are whole vectors apart without being made of whole vectors: what lies between them
// must not be written.
TEST_F(TransposeShapesExecutorTest, WholeVectorsApartIsNotWhole) {
  for (const char* name : {"tile_vector", "tile_wide", "tile_ragged"}) {
    for (const int64_t element_bytes : {1, 2, 4, 8}) {
      for (const int64_t extent : {32, 64, 192}) {
        RunCase(name, {extent - 1, extent, 0, 1}, element_bytes);
        RunCase(name, {extent, extent - 1, 1, 0}, element_bytes);
      }
    }
  }
}

// Enough tiles for the large ones, and bytes of few rows or columns.
TEST_F(TransposeShapesExecutorTest, LargeVectorTilesAndThinTilesOfBytes) {
  for (const int64_t element_bytes : {1, 2, 4}) {
    RunCase("tile_vector", {32, 48, 0, 0, 300, 0}, element_bytes);
  }
  RunCase("tile_vector", {2, 4, 0, 0, 2501, 0}, 8);
  // Bytes whose out rows are no whole sectors.
  RunCase("tile_vector", {16, 32, 0, 0, 100, 0}, 1);
  RunCase("tile_vector", {272, 144, 0, 0, 40, 0}, 1);
  RunCase("tile_vector", {240, 128, 16, 32, 101, 16}, 1);
  RunCase("tile_vector", {528, 1664, 32, 0, 5, 0}, 1);
  for (const int64_t few : {1, 4, 5, 8}) {
    for (const int64_t many : {255, 256, 600}) {
      RunCase("tile_small", {few, many, 0, 0}, 1);
      RunCase("tile_small", {many, few, 3, 1, 2, 5}, 1);
    }
  }
}

// More columns of wide tiles than are taken together, the last of which lie behind the matrix.
TEST_F(TransposeShapesExecutorTest, WideTilesTakenTogether) {
  RunCase("tile_wide", {272, 544, 0, 0}, 1);
  RunCase("tile_wide", {144, 272, 16, 0}, 2);
  RunCase("tile_wide", {68, 64 * 256 + 260, 0, 0}, 4);
  RunCase("tile_wide", {130, 258, 2, 4, 3, 2}, 4);
  RunCase("tile_wide", {66, 32 * 128 + 130, 0, 0}, 8);
  RunCase("tile_wide", {33, 32 * 128 + 129, 0, 1}, 16);
}

// The same of rows that begin anywhere, with one tile and with several on each side.
TEST_F(TransposeShapesExecutorTest, WideRaggedTilesTakenTogether) {
  for (const int64_t element_bytes : {1, 2, 4, 8}) {
    const int64_t tile = 1008 / element_bytes;  // Columns.
    for (const int64_t rows : {1, 31, 145, 301}) {
      RunCase("tile_ragged_wide", {rows, 77, 0, 0}, element_bytes);
      RunCase("tile_ragged_wide", {rows, 9 * tile + 5, 0, 0}, element_bytes);
      RunCase("tile_ragged_wide", {rows, tile + 1, 3, 1, 3, 2, 5, 1}, element_bytes);
    }
  }
}

// Pairs in groups, of which the last lie behind the matrix.
TEST_F(TransposeShapesExecutorTest, InPlaceWithDistantRows) {
  for (const int64_t n : {1024, 1100}) {
    RunCase("in_place_square", {n, n, 16384 - n, 16384 - n}, 4);
  }
}

// Matrices whose many rows of tiles are taken in bands, the last of which is lower.
TEST_F(TransposeShapesExecutorTest, TallMatricesInBands) {
  RunCase("tile_vector", {16 * 260 + 1, 17, 0, 0}, 16);
  RunCase("tile_vector", {16 * 260, 33, 1, 2}, 16);
  for (const int64_t element_bytes : {1, 2}) {
    RunCase("tile_ragged", {29001, 3, 0, 0}, element_bytes);
    RunCase("tile_ragged", {29056, 5, 2, 1, 2, 3}, element_bytes);
  }
}

TEST_F(TransposeShapesExecutorTest, BatchesOfSmallMatrices) {
  const std::pair<int64_t, int64_t> shapes[] = {{1, 1},   {2, 3},   {7, 5},   {16, 16},
                                                {33, 31}, {64, 64}, {200, 3}, {3, 200}};
  for (const int64_t element_bytes : kElementSizes) {
    for (const auto& [rows, cols] : shapes) {
      for (const int64_t batch : {1, 2, 33, 1000}) {
        if (rows * cols * element_bytes * batch > 100000 && batch > 2) continue;
        RunCase("batch_small", {rows, cols, 0, 0, batch, 0}, element_bytes);
        if (batch > 33) continue;
        // Gaps in rows, on one side and on both; gaps between matrices.
        RunCase("batch_small", {rows, cols, 1, 0, batch, 0}, element_bytes);
        RunCase("batch_small", {rows, cols, 0, 1, batch, 0}, element_bytes);
        RunCase("batch_small", {rows, cols, 3, 2, batch, 1}, element_bytes);
        RunCase("batch_small", {rows, cols, 0, 0, batch, 5}, element_bytes);
        // One contiguous piece that starts anywhere.
        RunCase("batch_small", {rows, cols, 0, 0, batch, 0, 1, 0}, element_bytes);
        RunCase("batch_small", {rows, cols, 0, 0, batch, 0, 0, 1}, element_bytes);
        RunCase("batch_small", {rows, cols, 0, 0, batch, 0, 3, 3}, element_bytes);
      }
    }
  }
}

// Pieces whose matrices never start on a multiple of 16 bytes again; matrices of just 48 KB, and of
// more, which are taken in tiles.
TEST_F(TransposeShapesExecutorTest, BatchesOfMatricesAtTheLimitsOfSharedMemory) {
  RunCase("batch_small", {65, 63, 0, 0, 9, 0}, 1);
  RunCase("batch_small", {37, 39, 0, 0, 9, 0}, 4);
  for (const int64_t element_bytes : kElementSizes) {
    RunCase("batch_small", {(48 << 10) / element_bytes / 96, 96, 0, 0, 2, 0}, element_bytes);
    RunCase("batch_small", {(48 << 10) / element_bytes / 96 + 1, 96, 1, 2, 2, 3}, element_bytes);
  }
}

TEST_F(TransposeShapesExecutorTest, SquaresInPlace) {
  for (const int64_t element_bytes : kElementSizes) {
    for (const int64_t n : {1, 2, 16, 31, 32, 33, 63, 64, 65, 96, 100, 128, 130, 192, 260}) {
      RunCase("in_place_square", {n, n, 0, 0}, element_bytes);
      if (n > 130) continue;
      for (const int64_t pad : {1, 4}) {
        RunCase("in_place_square", {n, n, pad, pad}, element_bytes);
        RunCase("in_place_square", {n, n, pad, pad, 3, 4 - pad}, element_bytes);
      }
      RunCase("in_place_square", {n, n, 0, 0, 3, 0}, element_bytes);
      RunCase("in_place_square", {n, n, 0, 0, 1, 0, 1, 1}, element_bytes);
    }
  }
}

// More matrices than grid.z holds, of which only those of the first two blocks are run.
TEST_F(TransposeShapesExecutorTest, MoreSquaresInPlaceThanAGridHolds) {
  executor::ExecutorOptions options;
  options.only = [](const Extent3& block, const Grid& /*grid*/) { return block.z < 2; };
  auto executor = executor::Executor::Create(options);
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto implementation = OnHostExecutor(*FindTransposeImplementation("in_place_square"));
  ASSERT_TRUE(implementation.ok()) << implementation.status();
  TransposeTestProblem problem({2, 2, 0, 0, 65535 + 3, 0}, 1, implementation->operation);
  const std::vector<uint8_t> before = problem.out_with_guards();
  const absl::Status status = RunOnExecutor(*implementation, {0, 0, 0}, executor->get(), &problem);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ((*executor)->launches().back().grid.z, 65535);
  const std::vector<uint8_t>& after = problem.out_with_guards();
  for (const int64_t matrix : {0, 1, 2, 65534, 65535, 65536, 65537}) {
    const bool transposed = matrix % 65535 < 2;
    for (const auto& [from, to] : {std::pair{0, 0}, std::pair{1, 2}, std::pair{2, 1}}) {
      const auto first = static_cast<size_t>(TransposeTestProblem::kGuardBytes + 4 * matrix);
      EXPECT_EQ(after[first + static_cast<size_t>(transposed ? to : from)],
                before[first + static_cast<size_t>(from)])
          << matrix;
    }
  }
}

// Global memory goes by whole sectors, and shared memory without bank conflicts.
TEST_F(TransposeShapesExecutorTest, SquaresInPlaceHaveNoConflicts) {
  for (const int64_t element_bytes : kElementSizes) {
    const executor::Profile profile = ProfileOf("in_place_square", {256, 256, 0, 0}, element_bytes);
    for (const EventKind kind : {EventKind::kGlobalLoad, EventKind::kGlobalStore}) {
      EXPECT_EQ(profile.Total(kind).SectorEfficiency(), 1) << element_bytes;
      EXPECT_EQ(profile.Total(kind).SectorsPerRequest(), element_bytes < 4 ? 4 : 16)
          << element_bytes;
    }
    for (const EventKind kind : {EventKind::kSharedLoad, EventKind::kSharedStore}) {
      EXPECT_EQ(profile.Total(kind).bank_conflicts(), 0u) << element_bytes;
      EXPECT_EQ(profile.Total(kind).WavefrontsPerRequest(), element_bytes < 4 ? 1 : 4)
          << element_bytes;
    }
  }
}

// The same for small matrices side by side; what is lost is in blocks that are not full.
TEST_F(TransposeShapesExecutorTest, BatchesAreMovedAsVectors) {
  for (const int64_t element_bytes : {1, 2, 4}) {
    for (const auto& [extent, batch] : {std::pair{8, 1024}, std::pair{16, 256}}) {
      const executor::Profile profile =
          ProfileOf("batch_small", {extent, extent, 0, 0, batch, 0}, element_bytes);
      for (const EventKind kind : {EventKind::kGlobalLoad, EventKind::kGlobalStore}) {
        EXPECT_EQ(profile.Total(kind).SectorEfficiency(), 1) << extent << ", " << element_bytes;
        EXPECT_EQ(profile.Total(kind).SectorsPerRequest(), 16) << extent << ", " << element_bytes;
      }
      EXPECT_LE(profile.Total(EventKind::kSharedLoad).max_wavefronts, 2u) << element_bytes;
      EXPECT_LE(profile.Total(EventKind::kSharedStore).max_wavefronts, 2u) << element_bytes;
    }
    for (const auto& [rows, cols] : {std::pair{7, 5}, std::pair{3, 3}, std::pair{12, 20}}) {
      const executor::Profile profile =
          ProfileOf("batch_small", {rows, cols, 0, 0, 1000, 0}, element_bytes);
      for (const EventKind kind : {EventKind::kGlobalLoad, EventKind::kGlobalStore}) {
        EXPECT_GE(profile.Total(kind).SectorEfficiency(), 0.96) << rows << ", " << element_bytes;
        EXPECT_GE(profile.Total(kind).SectorsPerRequest(), 14) << rows << ", " << element_bytes;
      }
      EXPECT_LE(profile.Total(EventKind::kSharedLoad).WavefrontsPerRequest(), 3) << rows;
      EXPECT_LE(profile.Total(EventKind::kSharedStore).WavefrontsPerRequest(), 3) << rows;
    }
  }
}

}  // namespace
}  // namespace stridewise
