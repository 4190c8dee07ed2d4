// The kernels of Permute() for short runs and small blocks, on the host executor.

#include <cstdint>

#include "common/base/case_random.h"
#include "gtest/gtest.h"
#include "transpose/permute.h"
#include "transpose/permute_blocks_plan.h"
#include "transpose/permute_joined_plan.h"
#include "transpose/permute_rows_plan.h"
#include "transpose/test/permute_executor_fixture.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace executor {
LaunchStatus PermuteBlocks(const PermuteArgs& args);
LaunchStatus PermuteJoined(const PermuteArgs& args);
LaunchStatus PermuteRowBytes(const PermuteArgs& args);
}  // namespace executor

namespace {

constexpr uint64_t kSeed = 20261126;

class PermuteShortRunsTest : public PermuteExecutorFixture {
 protected:
  bool RunRowBytes(const PermuteCase& c) {
    SCOPED_TRACE(testing::Message() << c << ", rows of bytes");
    return RunWhere(c, KeepsRowsOfBytes, executor::PermuteRowBytes);
  }
  bool RunJoined(const PermuteCase& c, const PermuteJoinedLimits& limits) {
    SCOPED_TRACE(testing::Message() << c << ", joined, tiles of " << limits.most_bytes << " bytes");
    return RunWhere(c, CanJoinColumns, [&](PermuteArgs args) {
      args.joined_limits = &limits;
      return executor::PermuteJoined(args);
    });
  }
  bool RunBlocks(const PermuteCase& c, const PermuteBlocksLimits& limits) {
    SCOPED_TRACE(testing::Message() << c << ", blocks in " << limits.most_bytes << " bytes");
    return RunWhere(c, HasBlocks, [&](PermuteArgs args) {
      args.blocks_limits = &limits;
      return executor::PermuteBlocks(args);
    });
  }
};

// Rows of every length modulo 16 at any address, whose vectors of `out` lie in one row or two, and
// vectors that the tensor has in part; several blocks, with rows that begin in the one before.
TEST_F(PermuteShortRunsTest, RowsOfBytes) {
  for (const int64_t bytes : {1, 2, 4, 8}) {
    for (int64_t more = 0; more < 16; ++more) {
      EXPECT_TRUE(RunRowBytes({{3, 5, 17 + 2 * more}, {1, 0, 2}, bytes}));
      EXPECT_TRUE(RunRowBytes(
          {{3, 2, 5, 2, 33 + 2 * more}, {3, 1, 0, 2, 4}, bytes, {}, {}, more, 15 - more}));
      EXPECT_TRUE(RunRowBytes({{5, 3, 65 + 2 * more}, {1, 0, 2}, bytes, {5, 1, 0}}));
      EXPECT_TRUE(RunRowBytes({{19, 7, 201 + more}, {1, 0, 2}, bytes, {}, {}, more, 15 - more}));
    }
  }
  EXPECT_FALSE(RunRowBytes({{3, 5, 15}, {1, 0, 2}, 1}));                 // 15 bytes.
  EXPECT_FALSE(RunRowBytes({{3, 5, 17}, {1, 0, 2}, 16}));                // Vectors.
  EXPECT_FALSE(RunRowBytes({{3, 5, 17}, {1, 0, 2}, 1, {}, {1, 0, 0}}));  // Gaps in `out`.
}

PermuteJoinedLimits SmallJoined() {
  PermuteJoinedLimits limits;
  limits.least_bytes = limits.most_bytes = 2 << 10;
  limits.row_bytes = 64;
  limits.enough_bytes = 0;
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
TEST_F(PermuteShortRunsTest, JoinedColumns) {
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
TEST_F(PermuteShortRunsTest, Blocks) {
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
  // Of more than 512 elements, which have tiles and threads of their own.
  for (const int64_t bytes : {1, 2}) {
    const PermuteCase c = {{5, 9, 30, 23}, {1, 0, 3, 2}, bytes, {}, {}, 3, 1};
    EXPECT_TRUE(RunBlocks(c, SmallBlocks()));
    PermuteBlocksLimits limits = LargeBlocks();
    limits.most_bytes = 36 << 10;
    limits.threads = 256;
    EXPECT_TRUE(RunBlocks(c, limits));
  }
  EXPECT_FALSE(RunBlocks({{5, 9, 3, 7}, {1, 0, 3, 2}, 1}, SmallBlocks()));    // 21.
  EXPECT_FALSE(RunBlocks({{5, 9, 60, 37}, {1, 0, 3, 2}, 1}, SmallBlocks()));  // 2220.
  EXPECT_FALSE(RunBlocks({{5, 9, 3, 43}, {1, 0, 3, 2}, 1, {}, {9, 0, 0, 0}}, SmallBlocks()));
  EXPECT_FALSE(RunBlocks({{5, 9, 3, 43}, {1, 0, 3, 2}, 1, {0, 0, 9, 0}}, SmallBlocks()));
  EXPECT_FALSE(RunBlocks({{5, 43}, {1, 0}, 1}, SmallBlocks()));  // One block.
}

// Shapes of all kinds; each kernel takes some of them.
TEST_F(PermuteShortRunsTest, RandomCases) {
  int joined = 0;
  int blocks = 0;
  const int64_t count = CaseCount(120, 2000);
  for (int64_t number = 0; number < count; ++number) {
    SCOPED_TRACE(testing::Message() << "case " << number << " of seed " << kSeed);
    const PermuteCase c = RandomPermuteCase(kSeed, number, 3000);
    const bool small = number % 2 == 0;
    RunRowBytes(c);
    joined += RunJoined(c, small ? SmallJoined() : LargeJoined()) ? 1 : 0;
    blocks += RunBlocks(c, small ? SmallBlocks() : LargeBlocks()) ? 1 : 0;
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(joined, 3);
  EXPECT_GE(blocks, 1);
}

}  // namespace
}  // namespace stridewise
