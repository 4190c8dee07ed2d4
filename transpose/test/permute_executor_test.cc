// The kernels of Permute() on the host executor: every byte of the result and around it, with
// checks of bounds, races and initialisation.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/case_random.h"
#include "common/executor/executor.h"
#include "gtest/gtest.h"
#include "transpose/permute.h"
#include "transpose/permute_blocks_plan.h"
#include "transpose/permute_flat_plan.h"
#include "transpose/permute_joined_plan.h"
#include "transpose/permute_plan.h"
#include "transpose/permute_rows_plan.h"
#include "transpose/permute_strips_plan.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace executor {
LaunchStatus PermuteBlocks(const PermuteArgs& args);
LaunchStatus PermuteDirect(const PermuteArgs& args);
LaunchStatus PermuteFlat(const PermuteArgs& args);
LaunchStatus PermuteInterleave(const PermuteArgs& args);
LaunchStatus PermuteJoined(const PermuteArgs& args);
LaunchStatus PermuteRowBytes(const PermuteArgs& args);
LaunchStatus PermuteRows(const PermuteArgs& args);
LaunchStatus PermuteStrips(const PermuteArgs& args);
LaunchStatus PermuteTiles(const PermuteArgs& args);
}  // namespace executor

namespace {

constexpr uint64_t kSeed = 20261122;

// Tiles of several sizes: small ones, so that small tensors have edges.
PermuteTileLimits Small() {
  PermuteTileLimits limits;
  limits.least_bytes = 2 << 10;
  limits.most_bytes = 4 << 10;
  limits.threads = 64;
  return limits;
}
PermuteTileLimits Large() {
  PermuteTileLimits limits;
  limits.least_bytes = limits.most_bytes;
  return limits;
}

PermuteFlatLimits SmallFlat() {
  PermuteFlatLimits limits;
  limits.least_bytes = limits.most_bytes = 4 << 10;
  limits.row_bytes = 64;
  limits.column_bytes = 48;
  limits.threads = 64;
  return limits;
}
PermuteFlatLimits LargeFlat() {
  PermuteFlatLimits limits;
  limits.least_bytes = limits.most_bytes;
  return limits;
}

class PermuteExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto executor = executor::Executor::Create({});
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }

  void Run(const PermuteCase& c, const PermuteTileLimits& limits) {
    SCOPED_TRACE(testing::Message() << c << ", tiles of " << limits.most_bytes << " bytes");
    RunWith(c, [&](PermuteArgs args) {
      args.limits = &limits;
      return args.rank == 0 ? LaunchStatus() : executor::PermuteTiles(args);
    });
  }

  // Runs permute_direct where it takes the case. Returns whether it does.
  bool RunDirect(const PermuteCase& c) {
    SCOPED_TRACE(testing::Message() << c << ", direct");
    bool runs = false;
    RunWith(c, [&](const PermuteArgs& args) {
      runs = IsDirect(args);
      return runs ? executor::PermuteDirect(args) : executor::PermuteTiles(args);
    });
    return runs;
  }

  // Runs permute_interleave where it takes the case. Returns the bytes of its words.
  int64_t RunInterleave(const PermuteCase& c) {
    SCOPED_TRACE(testing::Message() << c << ", interleaved");
    int64_t bytes = 0;
    RunWith(c, [&](const PermuteArgs& args) {
      bytes = InterleavedBytes(args);
      return bytes > 0 ? executor::PermuteInterleave(args) : executor::PermuteTiles(args);
    });
    return bytes;
  }

  // Runs permute_flat where it takes the case. Returns whether it does.
  bool RunFlat(const PermuteCase& c, const PermuteFlatLimits& limits) {
    SCOPED_TRACE(testing::Message() << c << ", flat tiles of " << limits.row_bytes << " by "
                                    << limits.column_bytes << " bytes");
    bool runs = false;
    RunWith(c, [&](PermuteArgs args) {
      args.flat_limits = &limits;
      if (args.rank == 0) return LaunchStatus();
      runs = IsFlat(args);
      return runs ? executor::PermuteFlat(args) : executor::PermuteTiles(args);
    });
    return runs;
  }

  // Runs permute_joined where it takes the case. Returns whether it does.
  bool RunJoined(const PermuteCase& c, const PermuteJoinedLimits& limits) {
    SCOPED_TRACE(testing::Message() << c << ", joined, tiles of " << limits.most_bytes << " bytes");
    bool runs = false;
    RunWith(c, [&](PermuteArgs args) {
      args.joined_limits = &limits;
      runs = CanJoinColumns(args);
      return runs             ? executor::PermuteJoined(args)
             : args.rank == 0 ? LaunchStatus()
                              : executor::PermuteTiles(args);
    });
    return runs;
  }

  // Runs permute_strips where it takes the case. Returns whether it does.
  bool RunStrips(const PermuteCase& c, const PermuteStripsLimits& limits) {
    SCOPED_TRACE(testing::Message() << c << ", strips of " << limits.strip_bytes << " bytes");
    bool runs = false;
    RunWith(c, [&](PermuteArgs args) {
      args.strips_limits = &limits;
      runs = CanCutStrips(args);
      if (runs) return executor::PermuteStrips(args);
      return args.rank == 0 ? LaunchStatus() : executor::PermuteTiles(args);
    });
    return runs;
  }

  // Runs permute_blocks where it takes the case. Returns whether it does.
  bool RunBlocks(const PermuteCase& c, const PermuteBlocksLimits& limits) {
    SCOPED_TRACE(testing::Message() << c << ", blocks in " << limits.most_bytes << " bytes");
    bool runs = false;
    RunWith(c, [&](PermuteArgs args) {
      args.blocks_limits = &limits;
      runs = HasBlocks(args);
      if (runs) return executor::PermuteBlocks(args);
      return args.rank == 0 ? LaunchStatus() : executor::PermuteTiles(args);
    });
    return runs;
  }

  // Runs permute_row_bytes where it takes the case. Returns whether it does.
  bool RunRowBytes(const PermuteCase& c) {
    SCOPED_TRACE(testing::Message() << c << ", rows of bytes");
    bool runs = false;
    RunWith(c, [&](const PermuteArgs& args) {
      runs = KeepsRowsOfBytes(args);
      return runs             ? executor::PermuteRowBytes(args)
             : args.rank == 0 ? LaunchStatus()
                              : executor::PermuteTiles(args);
    });
    return runs;
  }

  // Runs permute_rows, which must take the case.
  void RunRows(const PermuteCase& c) {
    SCOPED_TRACE(testing::Message() << c);
    RunWith(c, [](const PermuteArgs& args) {
      EXPECT_TRUE(KeepsRows(args));
      return executor::PermuteRows(args);
    });
  }

  template <typename Kernel>
  void RunWith(const PermuteCase& c, Kernel kernel) {
    PermuteTestProblem problem(c);
    auto in = executor_->Allocate("in", problem.in().size());
    auto out = executor_->Allocate("out", problem.out().size());
    ASSERT_TRUE(in.ok() && out.ok());
    in->Upload(problem.in().data());
    in->MakeReadOnly();
    out->Poison(problem.out().data());
    auto args = CheckedPermuteArgs(problem.At(in->data(), out->data()));
    ASSERT_TRUE(args.ok()) << args.status();
    args->stream = executor_->stream();
    const PermuteArgs canonical = Canonical(*args);
    const absl::Status status = kernel(canonical);
    ASSERT_TRUE(status.ok()) << status;
    if (canonical.rank == 0) return;
    out->Download(problem.out().data());
    ASSERT_TRUE(problem.Check().ok()) << problem.Check();
    executor_->ClearLaunches();
  }

  std::unique_ptr<executor::Executor> executor_;
};

TEST_F(PermuteExecutorTest, EveryOrderOfUpToFourDimensions) {
  for (const std::vector<int64_t>& extents :
       {std::vector<int64_t>{37}, {13, 35}, {5, 33, 17}, {3, 20, 7, 12}}) {
    std::vector<int64_t> order;
    for (size_t i = 0; i < extents.size(); ++i) order.push_back(static_cast<int64_t>(i));
    int64_t number = 0;
    do {
      Run({extents, order, int64_t{1} << number % 5}, Small());
      Run({extents, order, int64_t{1} << (number + 2) % 5}, Large());
      ++number;
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_F(PermuteExecutorTest, EveryElementSizeAndTileEdge) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t more : {-1, 0, 1}) {
      Run({{64 + more, 3, 64}, {2, 1, 0}, bytes}, Small());
      Run({{2, 32, 128 + more}, {2, 0, 1}, bytes}, Small());
      Run({{3, 64 + more, 48}, {0, 2, 1}, bytes, {}, {}, 1, 3}, Small());
      Run({{97, 2, 64 + more}, {1, 0, 2}, bytes, {3, 1, 0}, {0, 5, 1}}, Small());
    }
  }
}

TEST_F(PermuteExecutorTest, FrameworksShapes) {
  Run({{2, 48, 4, 64}, {0, 2, 1, 3}, 2}, Large());        // BSHD to BHSD.
  Run({{2, 14, 14, 64}, {0, 3, 1, 2}, 4}, Large());       // NHWC to NCHW.
  Run({{2, 30, 31, 3}, {0, 3, 1, 2}, 1}, Large());        // The same with three channels.
  Run({{2, 3, 30, 31}, {0, 2, 3, 1}, 1}, Large());        // And back.
  Run({{2, 2, 2, 12, 64}, {0, 3, 1, 4, 2}, 4}, Large());  // Pixels of four pictures for one.
  Run({{2, 2, 2, 13, 40}, {0, 3, 1, 4, 2}, 2, {}, {}, 1, 3}, Large());
  Run({{4, 8, 6, 12, 5}, {4, 2, 0, 3, 1}, 4}, Large());
  Run({{2, 3, 4, 3, 5, 2}, {5, 4, 3, 2, 1, 0}, 2}, Large());
}

// Elements of 4, 8 and 16 bytes; dimensions that are cut in two and ones that are not; gaps; blocks
// whose last vectors lie behind the tensor.
TEST_F(PermuteExecutorTest, RowsThatStay) {
  RunRows({{2, 48, 4, 64}, {0, 2, 1, 3}, 2});             // BSHD to BHSD.
  RunRows({{2, 4, 48, 64}, {0, 2, 1, 3}, 2});             // And back.
  RunRows({{3, 50, 3, 4, 32}, {2, 0, 3, 1, 4}, 4});       // Queries, keys and values.
  RunRows({{2, 5, 7, 3, 7, 96}, {0, 1, 3, 2, 4, 5}, 1});  // Windows of a picture.
  RunRows({{7, 11, 13, 17}, {2, 1, 0, 3}, 4});
  RunRows({{7, 11, 2, 9}, {1, 2, 0, 3}, 8});
  RunRows({{3, 2, 5, 2, 3, 8}, {4, 2, 0, 3, 1, 5}, 16});
  RunRows({{37, 29, 4}, {1, 0, 2}, 16, {3, 1, 0}, {2, 5, 0}, 1, 3});
  RunRows({{19, 23, 40}, {1, 0, 2}, 2, {0, 4, 0}, {0, 8, 0}, 2, 6});
}

// Rows of every length modulo 16 at any address, whose vectors of `out` lie in one row or two, and
// vectors that the tensor has in part.
TEST_F(PermuteExecutorTest, RowsOfBytes) {
  for (const int64_t bytes : {1, 2, 4, 8}) {
    for (int64_t more = 0; more < 16; ++more) {
      EXPECT_TRUE(RunRowBytes({{3, 5, 17 + 2 * more}, {1, 0, 2}, bytes}));
      EXPECT_TRUE(RunRowBytes(
          {{3, 2, 5, 2, 33 + 2 * more}, {3, 1, 0, 2, 4}, bytes, {}, {}, more, 15 - more}));
      EXPECT_TRUE(RunRowBytes({{5, 3, 65 + 2 * more}, {1, 0, 2}, bytes, {5, 1, 0}}));
    }
  }
  EXPECT_FALSE(RunRowBytes({{3, 5, 15}, {1, 0, 2}, 1}));                 // 15 bytes.
  EXPECT_FALSE(RunRowBytes({{3, 5, 17}, {1, 0, 2}, 16}));                // Vectors.
  EXPECT_FALSE(RunRowBytes({{3, 5, 17}, {1, 0, 2}, 1, {}, {1, 0, 0}}));  // Gaps in `out`.
}

// Words whose elements are in several rows of `in`, and a last word that the tensor has in part.
TEST_F(PermuteExecutorTest, DirectWords) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t more : {0, 1, 2, 3}) {
      EXPECT_TRUE(RunDirect({{3, 3, 8, 5 + more}, {1, 3, 2, 0}, bytes}));
      EXPECT_TRUE(RunDirect({{9 + more, 7, 5, 2, 3}, {4, 2, 0, 3, 1}, bytes}));
      EXPECT_TRUE(RunDirect({{31 + more, 2, 67}, {2, 0, 1}, bytes, {3, 0, 2}, {}, 1, 4}));
    }
  }
  EXPECT_FALSE(RunDirect({{5, 7}, {1, 0}, 4, {}, {1, 0}}));
  EXPECT_FALSE(RunDirect({{5, 7}, {1, 0}, 1, {}, {}, 0, 1}));
}

// Patches and shuffled pixels of every number of planes, element size and word.
TEST_F(PermuteExecutorTest, InterleavedPlanes) {
  for (const int64_t bytes : {1, 2, 4}) {
    for (const int64_t planes : {2, 3, 4}) {
      const int64_t in_vector = 16 / bytes;
      const int64_t in_word = 4 / bytes;
      EXPECT_EQ(RunInterleave({{2, planes, 3, 5, 2, 2 * in_vector}, {0, 2, 4, 3, 5, 1}, bytes}),
                16);
      EXPECT_EQ(RunInterleave({{2, planes, 3, 5, 3, 7 * in_word}, {0, 2, 4, 3, 5, 1}, bytes}), 4);
      EXPECT_EQ(RunInterleave({{5, 3, planes, 9, 13 * in_word}, {0, 3, 1, 4, 2}, bytes}), 4);
      EXPECT_EQ(RunInterleave({{5, 3, planes, 9, 13 * in_vector}, {0, 3, 1, 4, 2}, bytes}), 16);
      // A gap that keeps words, and one that does not.
      EXPECT_EQ(RunInterleave({{3, planes, 8, in_word}, {0, 2, 3, 1}, bytes, {0, in_word, 0, 0}}),
                4);
      EXPECT_EQ(RunInterleave({{3, planes, 5}, {0, 2, 1}, bytes}), bytes == 1 ? 0 : bytes);
    }
    EXPECT_EQ(RunInterleave({{2, 5, 8}, {0, 2, 1}, bytes}), 0);                 // Too many planes.
    EXPECT_EQ(RunInterleave({{2, 3, 8}, {0, 2, 1}, bytes, {}, {4, 0, 0}}), 0);  // Gaps in `out`.
  }
  EXPECT_EQ(RunInterleave({{4, 3, 5, 14}, {0, 2, 3, 1}, 1}), 2);
}

// Every split of the dimensions into rows, columns and a batch, with tiles that are cut inside of
// every one of them.
TEST_F(PermuteExecutorTest, FlatTiles) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t more : {-1, 0, 1}) {
      EXPECT_TRUE(RunFlat({{32 + more, 3, 64}, {2, 1, 0}, bytes}, SmallFlat()));
      EXPECT_TRUE(RunFlat({{5, 13, 4, 19 + more}, {3, 2, 1, 0}, bytes}, SmallFlat()));
      EXPECT_TRUE(RunFlat({{64 + more, 3, 16, 7}, {1, 3, 2, 0}, bytes}, SmallFlat()));
      EXPECT_TRUE(RunFlat({{7, 5, 6, 4, 3 + more}, {0, 4, 3, 2, 1}, bytes}, LargeFlat()));
      EXPECT_TRUE(RunFlat({{3, 64 + more, 48}, {0, 2, 1}, bytes, {}, {}, 1, 3}, SmallFlat()));
      EXPECT_TRUE(RunFlat({{9, 11 + more, 2, 16}, {3, 1, 2, 0}, bytes, {3, 1, 0, 0}, {0, 5, 1, 0}},
                          SmallFlat()));
    }
  }
  // The innermost dimension is the same on both sides, or no dimension is contiguous.
  EXPECT_FALSE(RunFlat({{7, 5, 3}, {1, 0, 2}, 2}, SmallFlat()));
  EXPECT_FALSE(RunFlat({{7, 5}, {1, 0}, 2, {0, 1}, {0, 0}}, SmallFlat()));
}

PermuteJoinedLimits SmallJoined() {
  PermuteJoinedLimits limits;
  limits.least_bytes = limits.most_bytes = 2 << 10;
  limits.row_bytes = 64;
  limits.threads = 64;
  return limits;
}
PermuteJoinedLimits LargeJoined() {
  PermuteJoinedLimits limits;
  limits.least_bytes = limits.most_bytes;
  return limits;
}

// Parts of whole periods and of pieces of one, rows of one dimension and of two, fewer rows than a
// vector has elements, and gaps in which parts begin anywhere.
TEST_F(PermuteExecutorTest, JoinedColumns) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t more : {-1, 0, 1}) {
      for (const PermuteJoinedLimits& limits : {SmallJoined(), LargeJoined()}) {
        EXPECT_TRUE(RunJoined({{4, 3, 8, 6 + more, 28}, {1, 4, 2, 0, 3}, bytes}, limits));
        EXPECT_TRUE(RunJoined({{5, 3, 2, 8, 28 + more}, {1, 2, 4, 0, 3}, bytes}, limits));
        EXPECT_TRUE(RunJoined({{10 + more, 4, 300}, {1, 2, 0}, bytes}, limits));
        EXPECT_TRUE(RunJoined({{2, 2, 2, 100 + more}, {1, 2, 3, 0}, bytes}, limits));
        EXPECT_TRUE(RunJoined(
            {{3, 4, 9, 31 + more}, {1, 2, 3, 0}, bytes, {5, 3, 1, 0}, {0, 7, 0, 0}, 1, 3}, limits));
      }
    }
  }
  EXPECT_FALSE(RunJoined({{7, 5, 3}, {1, 0, 2}, 2}, SmallJoined()));
  EXPECT_FALSE(RunJoined({{7, 5, 3}, {2, 1, 0}, 2}, SmallJoined()));
}

PermuteBlocksLimits SmallBlocks() {
  PermuteBlocksLimits limits;
  limits.most_bytes = 2 << 10;
  limits.threads = 64;
  return limits;
}
PermuteBlocksLimits LargeBlocks() {
  PermuteBlocksLimits limits;
  limits.blocks_of_device = 1;
  return limits;
}

// Blocks of two and three dimensions, of any number of elements, that begin anywhere, and tiles
// that have some of them.
TEST_F(PermuteExecutorTest, Blocks) {
  for (const int64_t bytes : {1, 2, 4, 8}) {
    for (int64_t more = 0; more < 8; ++more) {
      for (const PermuteBlocksLimits& limits : {SmallBlocks(), LargeBlocks()}) {
        EXPECT_TRUE(RunBlocks({{5, 9, 3, 23 + more}, {1, 0, 3, 2}, bytes}, limits));
        EXPECT_TRUE(RunBlocks(
            {{5, 2, 7, 3, 4, 6 + more}, {2, 0, 1, 4, 5, 3}, bytes, {}, {}, more, 7 - more},
            limits));
        EXPECT_TRUE(RunBlocks({{5, 9, 3, 22 + more}, {1, 0, 3, 2}, bytes, {5, 3, 0, 0}}, limits));
      }
    }
  }
  EXPECT_FALSE(RunBlocks({{5, 9, 3, 7}, {1, 0, 3, 2}, 1}, SmallBlocks()));    // 21.
  EXPECT_FALSE(RunBlocks({{5, 9, 30, 23}, {1, 0, 3, 2}, 1}, SmallBlocks()));  // 690.
  EXPECT_FALSE(RunBlocks({{5, 9, 3, 43}, {1, 0, 3, 2}, 1, {}, {9, 0, 0, 0}}, SmallBlocks()));
  EXPECT_FALSE(RunBlocks({{5, 9, 3, 43}, {1, 0, 3, 2}, 1, {0, 0, 9, 0}}, SmallBlocks()));
  EXPECT_FALSE(RunBlocks({{5, 43}, {1, 0}, 1}, SmallBlocks()));  // One block.
}

PermuteStripsLimits SmallStrips() {
  PermuteStripsLimits limits;
  limits.least_bytes = limits.most_bytes = 2 << 10;
  limits.strip_bytes = 128;
  limits.threads = 64;
  return limits;
}
PermuteStripsLimits LargeStrips() {
  PermuteStripsLimits limits;
  limits.least_bytes = limits.most_bytes;
  return limits;
}

// Parts of whole periods and of pieces of one, columns of one dimension and of two, vectors in
// several parts, and gaps in which parts and strips begin anywhere.
TEST_F(PermuteExecutorTest, Strips) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t more : {-1, 0, 1}) {
      for (const PermuteStripsLimits& limits : {SmallStrips(), LargeStrips()}) {
        EXPECT_TRUE(RunStrips({{5, 3, 29 + more, 7}, {1, 3, 0, 2}, bytes}, limits));
        EXPECT_TRUE(RunStrips({{5, 3, 300 + more, 3}, {1, 3, 0, 2}, bytes}, limits));
        EXPECT_TRUE(RunStrips({{6, 4, 5 + more, 2, 4}, {1, 4, 3, 0, 2}, bytes}, limits));
        EXPECT_TRUE(RunStrips(
            {{3, 4, 61 + more, 5}, {1, 3, 0, 2}, bytes, {5, 3, 0, 0}, {0, 7, 0, 0}, 1, 3}, limits));
      }
    }
  }
  EXPECT_FALSE(RunStrips({{7, 5, 3}, {1, 0, 2}, 2}, SmallStrips()));
  EXPECT_FALSE(RunStrips({{5, 3, 300, 3}, {1, 3, 0, 2}, 4, {0, 0, 1, 0}}, SmallStrips()));
}

TEST_F(PermuteExecutorTest, RandomCases) {
  const int64_t count = CaseCount(60, 2000);
  for (int64_t number = 0; number < count; ++number) {
    SCOPED_TRACE(testing::Message() << "case " << number << " of seed " << kSeed);
    const PermuteCase c = RandomPermuteCase(kSeed, number, 3000);
    PermuteTileLimits limits = number % 2 == 0 ? Small() : Large();
    constexpr int kOutQuarters[] = {4, 1, 2, 8, 16};
    limits.out_quarters = kOutQuarters[number / 2 % 5];
    limits.shift = number % 3 != 0;
    if (number % 4 == 1) limits.threads = 512;
    Run(c, limits);
    PermuteFlatLimits flat = number % 2 == 0 ? SmallFlat() : LargeFlat();
    flat.row_bytes <<= number / 2 % 3;
    flat.column_bytes <<= number / 6 % 3;
    if (number % 4 == 1) flat.threads = 512;
    RunFlat(c, flat);
    RunDirect(c);
    RunInterleave(c);
    RunRowBytes(c);
    RunBlocks(c, number % 2 == 0 ? SmallBlocks() : LargeBlocks());
    RunStrips(c, number % 2 == 0 ? SmallStrips() : LargeStrips());
    RunJoined(c, number % 2 == 0 ? SmallJoined() : LargeJoined());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace stridewise
