// The kernels of Permute() on the host executor: every byte of the result and around it, with
// checks of bounds, races and initialisation.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/case_random.h"
#include "gtest/gtest.h"
#include "transpose/permute.h"
#include "transpose/permute_flat_plan.h"
#include "transpose/permute_plan.h"
#include "transpose/permute_rows_plan.h"
#include "transpose/test/permute_executor_fixture.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace executor {
LaunchStatus PermuteDirect(const PermuteArgs& args);
LaunchStatus PermuteFlat(const PermuteArgs& args);
LaunchStatus PermuteInterleave(const PermuteArgs& args);
LaunchStatus PermuteRows(const PermuteArgs& args);
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

class PermuteExecutorTest : public PermuteExecutorFixture {
 protected:
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

  // Runs permute_rows, which must take the case.
  void RunRows(const PermuteCase& c) {
    SCOPED_TRACE(testing::Message() << c);
    RunWith(c, [](const PermuteArgs& args) {
      EXPECT_TRUE(KeepsRows(args));
      return executor::PermuteRows(args);
    });
  }
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

TEST_F(PermuteExecutorTest, RandomCases) {
  const int64_t count = CaseCount(60, 2000);
  for (int64_t number = 0; number < count; ++number) {
    SCOPED_TRACE(testing::Message() << "case " << number << " of seed " << kSeed);
    const PermuteCase c = RandomPermuteCase(kSeed, number, 3000);
    PermuteTileLimits limits = number % 2 == 0 ? Small() : Large();
    constexpr int kOutQuarters[] = {4, 1, 2, 8, 16};
    limits.out_quarters = kOutQuarters[number / 2 % 5];
    limits.shift = number % 3 != 0;
    limits.lanes = number % 5 < 3;
    if (number % 4 == 1) limits.threads = 512;
    Run(c, limits);
    PermuteFlatLimits flat = number % 2 == 0 ? SmallFlat() : LargeFlat();
    flat.row_bytes <<= number / 2 % 3;
    flat.column_bytes <<= number / 6 % 3;
    if (number % 4 == 1) flat.threads = 512;
    RunFlat(c, flat);
    RunDirect(c);
    RunInterleave(c);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace stridewise
