// The kernels for few rows and few columns on the host executor: every width, ends of chunks,
// panels, batches, gaps, and what they do to memory.

#include <cstdint>
#include <string>
#include <utility>

#include "common/executor/executor.h"
#include "common/executor/profile.h"
#include "gtest/gtest.h"
#include "transpose/test/executor_fixture.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {
namespace {

using executor::EventKind;

constexpr int64_t kElementSizes[] = {1, 2, 4, 8, 16};

TransposeCase Exchanged(TransposeCase c) {
  std::swap(c.rows, c.cols);
  return c;
}

// few_columns as they are, few_rows with rows and columns exchanged.
class SkinnyTest : public TransposeOnExecutorTest, public testing::WithParamInterface<std::string> {
 protected:
  void RunSkinny(const TransposeCase& c, int64_t element_bytes) {
    const std::string& name = GetParam();
    RunCase(name, name == "few_rows" ? Exchanged(c) : c, element_bytes);
  }
};

TEST_P(SkinnyTest, EveryWidth) {
  for (const int64_t element_bytes : kElementSizes) {
    for (int64_t width = 1; width <= 40; ++width) {
      RunSkinny({3 * 4096 / (width * element_bytes) + 5, width, 0}, element_bytes);
    }
    for (const int64_t width : {63, 64, 65, 131}) RunSkinny({37, width, 0}, element_bytes);
  }
}

// Ends before, at and behind vectors and chunks, which hold about 40 KB.
TEST_P(SkinnyTest, EveryEndOfTheLastChunk) {
  for (const int64_t element_bytes : kElementSizes) {
    for (const int64_t width : {1, 2, 3, 7, 33, 200}) {
      const int64_t chunk = (40 << 10) / element_bytes / width;
      for (const int64_t length : {int64_t{1}, int64_t{2}, int64_t{15}, int64_t{17}, chunk - 33,
                                   chunk - 1, chunk, chunk + 1, 2 * chunk + 3}) {
        if (length > 0) RunSkinny({length, width, 0}, element_bytes);
      }
    }
  }
}

// More than a panel holds; several panels of each matrix.
TEST_P(SkinnyTest, Panels) {
  for (const int64_t element_bytes : kElementSizes) {
    RunSkinny({19, 513, 0}, element_bytes);
    RunSkinny({3, 1025, 0, 1, 3, 2}, element_bytes);
  }
}

// Matrices that start anywhere, side by side and with gaps between them.
TEST_P(SkinnyTest, Batches) {
  for (const int64_t element_bytes : kElementSizes) {
    for (const int64_t width : {1, 3, 12, 35, 64}) {
      for (const int64_t length : {1, 5, 64, 133}) {
        RunSkinny({length, width, 0, 0, 3, 0}, element_bytes);
        RunSkinny({length, width, 0, 0, 3, 1, 1, 0}, element_bytes);
        RunSkinny({length, width, 1, 0, 2, 0, 0, 3}, element_bytes);
        RunSkinny({length, width, 0, 2, 2, 5}, element_bytes);
      }
    }
  }
}

// Either side with gaps; strips that start on every multiple of the element's size; flat pieces
// that do not start on a multiple of 16 bytes.
TEST_P(SkinnyTest, GapsAndOffsets) {
  for (const int64_t element_bytes : kElementSizes) {
    for (const auto& [pad_in, pad_out] : {std::pair{0, 1}, std::pair{1, 0}, std::pair{3, 2}}) {
      for (const int64_t width : {1, 3, 8, 32, 37}) {
        RunSkinny({1000, width, pad_in, pad_out}, element_bytes);
      }
    }
    for (const auto& [in, out] : {std::pair{1, 0}, std::pair{0, 1}, std::pair{1, 3}}) {
      for (const int64_t width : {1, 3, 8, 37}) {
        RunSkinny({1000, width, 0, -1, 1, 0, in, out}, element_bytes);
        RunSkinny({515, width, 0, 1, 1, 0, in, out}, element_bytes);
      }
    }
  }
}

// Both sides are moved by 512 bytes a warp, but for the ends of the short chunks of small matrices,
// where a warp has parts of two strips. Along strips there are few bank conflicts; across, two
// wavefronts.
TEST_P(SkinnyTest, WholeVectorsAndFewConflicts) {
  const bool columns = GetParam() == "few_columns";
  for (const int64_t element_bytes : {1, 2, 4}) {
    for (int64_t width = 1; width <= 16; ++width) {
      const TransposeCase c = {8192, width, 0, 0};
      const executor::Profile profile =
          ProfileOf(GetParam(), columns ? c : Exchanged(c), element_bytes);
      for (const EventKind kind : {EventKind::kGlobalLoad, EventKind::kGlobalStore}) {
        EXPECT_EQ(profile.Total(kind).SectorEfficiency(), 1) << width << ", " << element_bytes;
        EXPECT_GE(profile.Total(kind).SectorsPerRequest(), 15) << width << ", " << element_bytes;
      }
      const auto shared_load = profile.Total(EventKind::kSharedLoad);
      const auto shared_store = profile.Total(EventKind::kSharedStore);
      const auto& along = columns ? shared_load : shared_store;
      const auto& flat = columns ? shared_store : shared_load;
      EXPECT_LE(along.WavefrontsPerRequest(), 1.5) << width << ", " << element_bytes;
      EXPECT_LE(flat.max_wavefronts, 2u) << width << ", " << element_bytes;
    }
  }
}

// Strips that start anywhere are still moved as vectors, but for their ends.
TEST_P(SkinnyTest, StripsThatStartAnywhere) {
  const bool columns = GetParam() == "few_columns";
  for (const int64_t element_bytes : {1, 2, 4, 8}) {
    const TransposeCase c = columns ? TransposeCase{16384, 7, 0, 1} : TransposeCase{7, 16385, 0, 0};
    const executor::Profile profile = ProfileOf(GetParam(), c, element_bytes);
    const auto strips = profile.Total(columns ? EventKind::kGlobalStore : EventKind::kGlobalLoad);
    EXPECT_GE(strips.SectorEfficiency(), 0.95) << element_bytes;
    EXPECT_GE(strips.SectorsPerRequest(), 13) << element_bytes;
  }
}

using FewPlanesTest = TransposeOnExecutorTest;

// Every number of planes and element size, as rows and as columns: one vector of each plane, parts
// of a warp and of a block, and several blocks. Nothing but whole vectors is accessed.
TEST_F(FewPlanesTest, WovenAndTakenApart) {
  for (const int64_t element_bytes : {1, 2, 4}) {
    const int64_t vector = 16 / element_bytes;
    for (const int64_t planes : {2, 3, 4}) {
      for (const int64_t vectors : {1, 2, 31, 32, 33, 255, 600}) {
        const TransposeCase rows = {planes, vectors * vector, 0};
        for (const TransposeCase& c : {rows, Exchanged(rows)}) {
          const executor::Profile profile = ProfileOf("few_planes", c, element_bytes);
          // A plane may end inside a sector, and of two planes the host's compiler loads parts.
          if (vectors % 2 != 0 || planes == 2) continue;
          for (const EventKind kind : {EventKind::kGlobalLoad, EventKind::kGlobalStore}) {
            EXPECT_EQ(profile.Total(kind).SectorEfficiency(), 1) << c;
          }
        }
      }
    }
  }
}

// Planes with gaps between them and between matrices; pixels of a batch are one piece.
TEST_F(FewPlanesTest, GapsAndBatches) {
  for (const int64_t element_bytes : {1, 2, 4}) {
    const int64_t vector = 16 / element_bytes;
    for (const int64_t planes : {2, 3, 4}) {
      RunCase("few_planes", {planes, 5 * vector, 3 * vector, 0}, element_bytes);
      RunCase("few_planes", {5 * vector, planes, 0, vector}, element_bytes);
      for (const int64_t vectors : {1, 7, 65}) {
        RunCase("few_planes", {planes, vectors * vector, 0, 0, 5}, element_bytes);
        RunCase("few_planes", {vectors * vector, planes, 0, 0, 5}, element_bytes);
      }
    }
  }
}

// What has no planes of whole vectors goes to other kernels.
TEST_F(FewPlanesTest, OtherMatrices) {
  for (const int64_t element_bytes : kElementSizes) {
    RunCase("few_planes", {3, 999, 0, 0}, element_bytes);
    RunCase("few_planes", {999, 3, 0, 0}, element_bytes);
    RunCase("few_planes", {3, 1024, 0, 1}, element_bytes);
    RunCase("few_planes", {3, 1024, 0, 0, 2, 16}, element_bytes);
    RunCase("few_planes", {3, 1024, 0, 0, 1, 0, 1, 0}, element_bytes);
    RunCase("few_planes", {1024, 3, 0, 0, 1, 0, 0, 1}, element_bytes);
    RunCase("few_planes", {64, 64, 0, 0}, element_bytes);
  }
}

using TileStripsTest = TransposeOnExecutorTest;

// Strips of one vector and of several, the last of them narrower; few rows and more than threads
// have loads; columns that begin at any byte of a word and end inside one; gaps between rows of
// `in`, and between matrices.
TEST_F(TileStripsTest, AllRowsOfSomeVectors) {
  for (const int64_t element_bytes : {1, 2, 4}) {
    const int64_t vector = 16 / element_bytes;
    const int64_t word = element_bytes < 4 ? 4 / element_bytes : 1;
    for (const int64_t words : {1, 2, 5, 16, 49, 257}) {
      for (int64_t rows = words * word; rows < (words + 1) * word; ++rows) {  // Not all whole.
        for (const int64_t vectors : {1, 2, 3, 8, 19}) {
          RunCase("tile_strips", {rows, vectors * vector, 0, 0}, element_bytes);
          RunCase("tile_strips", {rows, vectors * vector, 0, 0, 3}, element_bytes);
          RunCase("tile_strips", {rows, vectors * vector, vector, 0, 3, 4 * vector}, element_bytes);
        }
      }
    }
    for (const int64_t rows : {1, 12, 13, 14, 15}) {  // Several of a block.
      RunCase("tile_strips", {rows, vector, 0, 0, 1000}, element_bytes);
    }
  }
}

// All accesses of global memory are whole sectors, and lanes access different banks.
TEST_F(TileStripsTest, SectorsAndBanks) {
  for (const int64_t element_bytes : {1, 2, 4}) {
    const int64_t cols = 256 / element_bytes;
    for (const int64_t rows : {100, 196, 200, 257, 264}) {
      if (element_bytes == 1 && rows % 4 != 0) continue;
      const executor::Profile profile =
          ProfileOf("tile_strips", {rows, cols, 0, 0, 40}, element_bytes);
      for (const EventKind kind : {EventKind::kGlobalLoad, EventKind::kGlobalStore}) {
        EXPECT_GE(profile.Total(kind).SectorEfficiency(), 0.99) << rows << " " << element_bytes;
      }
      EXPECT_LE(profile.Total(EventKind::kSharedStore).WavefrontsPerRequest(), 1.1)
          << rows << " " << element_bytes;
    }
  }
}

// Rows that are no vectors, and gaps in `out` go to tile_ragged.
TEST_F(TileStripsTest, OtherMatrices) {
  for (const int64_t element_bytes : kElementSizes) {
    RunCase("tile_strips", {64, 65, 0, 0}, element_bytes);
    RunCase("tile_strips", {65, 64, 0, 0}, element_bytes);
    RunCase("tile_strips", {64, 64, 0, 1}, element_bytes);
    RunCase("tile_strips", {64, 64, 0, 0, 1, 0, 1, 0}, element_bytes);
    RunCase("tile_strips", {2000, 32, 0, 0}, element_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Skinny, SkinnyTest, testing::Values("few_columns", "few_rows"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stridewise
