// What Permute() makes of its arguments: checks, canonical forms, the method it chooses.

#include "transpose/permute.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transpose/permute_blocks_plan.h"
#include "transpose/permute_flat_plan.h"
#include "transpose/permute_joined_plan.h"
#include "transpose/permute_plan.h"
#include "transpose/permute_plan_choice.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace {

// That a block of compute capability 8.6, 8.9 or 12.0 may have; others have more.
constexpr int kMostSharedBytes = 99 << 10;

// Addresses that are looked at and never used.
void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

PermuteProblem Problem(const std::vector<int64_t>& extents, const std::vector<int64_t>& order,
                       int64_t element_bytes = 4) {
  PermuteProblem problem{};
  problem.rank = static_cast<int64_t>(extents.size());
  problem.element_bytes = element_bytes;
  std::copy(extents.begin(), extents.end(), problem.extents.begin());
  std::copy(order.begin(), order.end(), problem.order.begin());
  problem.in = At(1 << 30);
  problem.out = At(int64_t{1} << 40);
  SetGaplessStrides(&problem);
  return problem;
}

TEST(PermuteTest, BadInputIsRefusedByName) {
  const struct {
    std::function<void(PermuteProblem*)> spoil;
    const char* message;
  } cases[] = {
      {[](PermuteProblem* p) { p->rank = -1; }, "rank is -1; allowed is 0 or more"},
      {[](PermuteProblem* p) { p->rank = 7; }, "rank is 7; allowed is at most 6"},
      {[](PermuteProblem* p) { p->element_bytes = 3; },
       "element_bytes is 3; allowed is 1, 2, 4, 8 and 16"},
      {[](PermuteProblem* p) { p->element_bytes = 32; },
       "element_bytes is 32; allowed is 1, 2, 4, 8 and 16"},
      {[](PermuteProblem* p) { p->order[1] = -1; }, "order[1] is -1; allowed is 0 or more"},
      {[](PermuteProblem* p) { p->order[1] = 3; }, "order[1] is 3; allowed is at most 2"},
      {[](PermuteProblem* p) { p->order[1] = 2; },
       "order[1] is 2; allowed is each dimension once, and order[0] is 2, too"},
      {[](PermuteProblem* p) { p->extents[2] = -5; }, "extents[2] is -5; allowed is 0 or more"},
      {[](PermuteProblem* p) { p->strides_in[0] = -1; },
       "strides_in[0] is -1; allowed is 0 or more"},
      {[](PermuteProblem* p) { p->strides_out[0] = 14; },
       "strides_out[0] is 14; allowed is 35 or more"},
      {[](PermuteProblem* p) { p->strides_out[2] = 0; },
       "strides_out[2] is 0; allowed is 1 or more"},
      {[](PermuteProblem* p) { p->in = nullptr; }, "in is null; allowed is device memory"},
      {[](PermuteProblem* p) { p->out = nullptr; }, "out is null; allowed is device memory"},
      {[](PermuteProblem* p) { p->out = At(1026); },
       "out is not aligned; allowed are multiples of 4"},
      {[](PermuteProblem* p) { p->out = At((1 << 30) + 4 * 104); },
       "out overlaps in; allowed is memory of its own"},
      {[](PermuteProblem* p) { p->strides_in[0] = int64_t{1} << 62; },
       "in has 2^63 bytes or more from its first element to its last; allowed is less"},
  };
  for (const auto& c : cases) {
    PermuteProblem problem = Problem({7, 5, 3}, {2, 0, 1});
    ASSERT_TRUE(CheckedPermuteArgs(problem).ok()) << CheckedPermuteArgs(problem).status();
    c.spoil(&problem);
    const absl::Status status = CheckedPermuteArgs(problem).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.message;
    EXPECT_EQ(status.message(), c.message);
    EXPECT_EQ(Permute(problem, nullptr), status);
  }
}

TEST(PermuteTest, MemorySideBySideDoesNotOverlap) {
  PermuteProblem problem = Problem({7, 5, 3}, {2, 0, 1});
  problem.out = At((1 << 30) + 4 * 105);
  EXPECT_TRUE(CheckedPermuteArgs(problem).ok());
}

TEST(PermuteTest, NothingIsDoneWithoutElements) {
  PermuteProblem problem = Problem({7, 0, 3}, {2, 0, 1});
  problem.in = nullptr;
  problem.out = nullptr;
  EXPECT_TRUE(Permute(problem, nullptr).ok());
}

PermuteArgs CanonicalOf(const PermuteProblem& problem) {
  return Canonical(CheckedPermuteArgs(problem).value());
}

TEST(PermuteTest, CanonicalFormsFuseDropAndWiden) {
  // BSHD of 64 elements of 2 bytes: 8 elements of 16 bytes.
  const PermuteArgs attention = CanonicalOf(Problem({4, 100, 12, 64}, {0, 2, 1, 3}, 2));
  EXPECT_EQ(attention.rank, 4);
  EXPECT_EQ(attention.element_bytes, 16);
  EXPECT_EQ(attention.dims[0].extent, 8);
  EXPECT_EQ(attention.dims[1].extent, 100);
  EXPECT_EQ(attention.dims[1].stride_in, 8 * 12);
  // NHWC to NCHW: H and W are one dimension.
  const PermuteArgs image = CanonicalOf(Problem({1, 20, 30, 3}, {0, 3, 1, 2}));
  EXPECT_EQ(image.rank, 2);
  EXPECT_EQ(image.dims[0].extent, 600);
  EXPECT_EQ(image.dims[1].extent, 3);
  // Four bytes that stay together are one element, and no dimension.
  const PermuteArgs pixels = CanonicalOf(Problem({20, 30, 4}, {1, 0, 2}, 1));
  EXPECT_EQ(pixels.rank, 2);
  EXPECT_EQ(pixels.element_bytes, 4);
  // An address that is no multiple of 4 keeps pairs of 2 bytes.
  PermuteProblem odd = Problem({20, 30, 4}, {1, 0, 2}, 1);
  odd.in = At((1 << 30) + 2);
  EXPECT_EQ(CanonicalOf(odd).element_bytes, 2);
}

TEST(PermuteTest, ChoosesByRunsAndSizes) {
  const auto method = [](const PermuteProblem& problem) {
    return ChoosePermute(CanonicalOf(problem));
  };
  EXPECT_EQ(method(Problem({}, {})), PermuteMethod::kCopy);
  EXPECT_EQ(method(Problem({1, 7, 1}, {2, 1, 0})), PermuteMethod::kCopy);
  EXPECT_EQ(method(Problem({3, 4, 5}, {0, 1, 2})), PermuteMethod::kCopy);
  EXPECT_EQ(method(Problem({3, 5}, {1, 0})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(Problem({8, 20, 30, 3}, {0, 3, 1, 2})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(Problem({1, 300, 310, 3}, {0, 3, 1, 2})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(Problem({8, 300, 310, 3}, {0, 3, 1, 2})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(Problem({8, 5, 300, 310}, {0, 2, 3, 1})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(Problem({8, 300, 310, 64}, {0, 3, 1, 2})), PermuteMethod::kTranspose);
  EXPECT_EQ(method(Problem({3, 5, 16}, {1, 0, 2})), PermuteMethod::kRows);
  EXPECT_EQ(method(Problem({3, 5, 49}, {1, 0, 2})), PermuteMethod::kRows);
  EXPECT_EQ(method(Problem({3, 5, 102}, {1, 0, 2}, 2)), PermuteMethod::kRows);
  // 80 bytes of a large tensor, and of a small one.
  EXPECT_EQ(method(Problem({531, 8, 336, 5}, {1, 2, 0, 3}, 16)), PermuteMethod::kTiles);
  EXPECT_EQ(method(Problem({531, 8, 33, 5}, {1, 2, 0, 3}, 16)), PermuteMethod::kRows);
  // Planes, as pictures, as patches of them and as pixels.
  EXPECT_EQ(method(Problem({8, 3, 300, 310}, {0, 2, 3, 1})), PermuteMethod::kInterleave);
  EXPECT_EQ(method(Problem({8, 3, 14, 16, 14, 16}, {0, 2, 4, 3, 5, 1}, 2)),
            PermuteMethod::kInterleave);
  EXPECT_EQ(method(Problem({8, 16, 2, 2, 56, 56}, {0, 1, 4, 2, 5, 3})), PermuteMethod::kInterleave);
  EXPECT_EQ(method(Problem({4, 3, 28, 8, 28, 8}, {0, 2, 4, 3, 5, 1}, 1)),
            PermuteMethod::kInterleave);
  EXPECT_EQ(method(Problem({4, 3, 28, 6, 28, 6}, {0, 2, 4, 3, 5, 1}, 1)), PermuteMethod::kDirect);
  // Runs of both sides.
  EXPECT_EQ(method(Problem({8, 300, 310, 30}, {0, 3, 1, 2})), PermuteMethod::kFlat);
  EXPECT_EQ(method(Problem({800, 130, 50}, {0, 2, 1})), PermuteMethod::kFlat);  // Not 8 times 50.
  EXPECT_EQ(method(Problem({47, 10, 5840}, {1, 2, 0}, 1)), PermuteMethod::kTranspose);
  EXPECT_EQ(method(Problem({40, 1200, 70}, {2, 1, 0})), PermuteMethod::kFlat);
  // The same of whole vectors, 128 bytes of each, with gaps in a batch.
  EXPECT_EQ(method(Problem({8, 300, 310, 48}, {3, 0, 2, 1})), PermuteMethod::kVector);
  EXPECT_EQ(method(Problem({16, 2048, 20, 128}, {0, 3, 2, 1}, 1)), PermuteMethod::kVector);
  EXPECT_EQ(method(Problem({16, 2048, 20, 112}, {0, 3, 2, 1}, 1)), PermuteMethod::kFlat);
  EXPECT_EQ(method(Problem({16, 112, 2000, 128}, {0, 3, 2, 1}, 1)), PermuteMethod::kFlat);
  EXPECT_EQ(method(Problem({16, 2044, 20, 128}, {0, 3, 2, 1}, 1)), PermuteMethod::kFlat);
  // 60 bytes that stay, 188, and rows that begin anywhere.
  EXPECT_EQ(method(Problem({300, 500, 15}, {1, 0, 2})), PermuteMethod::kTiles);
  EXPECT_EQ(method(Problem({300, 500, 47}, {1, 0, 2})), PermuteMethod::kTiles);
  EXPECT_EQ(method(Problem({300, 500, 49}, {1, 0, 2})), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(Problem({300, 900, 19}, {1, 0, 2}, 2)), PermuteMethod::kTiles);
  EXPECT_EQ(method(Problem({300, 900, 21}, {1, 0, 2}, 2)), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(Problem({300, 900, 21}, {1, 0, 2}, 1)), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(Problem({300, 50, 101}, {1, 0, 2}, 2)), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(Problem({300, 50, 133}, {1, 0, 2})), PermuteMethod::kRowBytes);
  EXPECT_EQ(method(Problem({300, 50, 133}, {1, 0, 2}, 8)), PermuteMethod::kRows);
  // 5 rows of bytes behind which columns go on; tiles where they end soon.
  EXPECT_EQ(method(Problem({5, 103, 85, 166, 63}, {3, 2, 1, 4, 0}, 1)), PermuteMethod::kJoined);
  EXPECT_EQ(method(Problem({5, 103, 85, 166, 19}, {3, 2, 1, 4, 0}, 1)), PermuteMethod::kTiles);
  // Rows that end inside a sector are joined up to 272 bytes, and 512 of 4 bytes and more.
  EXPECT_EQ(method(Problem({91, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 1)), PermuteMethod::kJoined);
  EXPECT_EQ(method(Problem({96, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 1)), PermuteMethod::kFlat);
  EXPECT_EQ(method(Problem({131, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 1)), PermuteMethod::kJoined);
  EXPECT_EQ(method(Problem({144, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 1)), PermuteMethod::kFlat);
  EXPECT_EQ(method(Problem({135, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 2)), PermuteMethod::kJoined);
  EXPECT_EQ(method(Problem({137, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 2)), PermuteMethod::kFlat);
  EXPECT_EQ(method(Problem({127, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 4)), PermuteMethod::kJoined);
  EXPECT_EQ(method(Problem({129, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 4)), PermuteMethod::kFlat);
  EXPECT_EQ(method(Problem({37, 46, 62, 14, 33}, {3, 1, 2, 4, 0}, 8)), PermuteMethod::kJoined);
  EXPECT_EQ(method(Problem({23, 46, 62, 14, 109}, {3, 1, 2, 4, 0}, 4)), PermuteMethod::kJoined);
  EXPECT_EQ(method(Problem({2, 40, 103, 43}, {2, 1, 3, 0}, 8)), PermuteMethod::kTiles);
  // Blocks of up to 512 elements of 1 and 2 bytes, or, where runs are short, 2048, and of up to 4
  // KB.
  EXPECT_EQ(method(Problem({300, 50, 5, 43}, {1, 0, 3, 2}, 1)), PermuteMethod::kBlocks);
  EXPECT_EQ(method(Problem({300, 50, 18, 32}, {1, 0, 3, 2}, 2)), PermuteMethod::kBlocks);
  EXPECT_EQ(method(Problem({300, 50, 5, 43}, {1, 0, 3, 2}, 4)), PermuteMethod::kBlocks);
  EXPECT_EQ(method(Problem({300, 50, 5, 205}, {1, 0, 3, 2}, 4)), PermuteMethod::kJoined);
  // What makes no long run on both sides.
  EXPECT_EQ(method(Problem({3000, 50, 5}, {1, 0, 2}, 2)), PermuteMethod::kTiles);
  EXPECT_EQ(method(Problem({9000, 4, 6, 5}, {1, 0, 3, 2}, 2)), PermuteMethod::kTiles);
  // As much as takes as long as a launch.
  EXPECT_EQ(method(Problem({3, 5, 15}, {1, 0, 2})), PermuteMethod::kDirect);
  EXPECT_EQ(method(Problem({3, 5, 7}, {2, 1, 0})), PermuteMethod::kDirect);
  EXPECT_EQ(method(Problem({100, 70, 70}, {2, 1, 0})), PermuteMethod::kDirect);
  EXPECT_EQ(method(Problem({100, 71, 71}, {2, 1, 0})), PermuteMethod::kFlat);
}

// Two pictures that become every second column of one: 128 pairs of floats are one run of out, and
// not the rows of it that are contiguous in the tile.
TEST(PermuteTest, LongRunsAreFurtherRows) {
  const PermutePlan plan =
      MakePermutePlan(CanonicalOf(Problem({512, 2, 2, 128, 128}, {0, 3, 1, 4, 2})), {});
  EXPECT_EQ(plan.out_run_held, 256);
  EXPECT_GE(plan.out_rows_held, 16);
  EXPECT_EQ(plan.log2_neighbours, 4);
}

// 99 elements of 2 bytes are one run of out: a tile that holds all of them stores no part of a run
// twice, where tiles of 32 of them would load 47.
TEST(PermuteTest, ChosenTilesHoldShortRunsWhole) {
  const PermuteArgs args = CanonicalOf(Problem({15, 5, 4, 99, 28, 2}, {5, 2, 4, 0, 1, 3}, 2));
  EXPECT_TRUE(MakePermutePlan(args, {}).out_shifts);
  const PermutePlan plan = ChoosePermutePlan(args);
  EXPECT_FALSE(plan.out_shifts);
  EXPECT_EQ(plan.out_run_held, 99);
}

TEST(PermuteTest, ChosenPlansHaveTheLeastPredictedCost) {
  for (int64_t number = 0; number < 200; ++number) {
    const PermuteCase c = RandomPermuteCase(11, number, int64_t{1} << 24);
    PermuteProblem problem = Problem(c.extents, c.order, c.element_bytes);
    problem.out = At(uintptr_t{1} << 60);
    const auto checked = CheckedPermuteArgs(problem);
    ASSERT_TRUE(checked.ok()) << c << ": " << checked.status();
    const PermuteArgs args = Canonical(*checked);
    if (args.rank == 0) continue;
    const double chosen = PredictedCost(ChoosePermutePlan(args), args.element_bytes);
    EXPECT_GE(chosen, 0.9) << c;
    for (const int quarters : {1, 4, 16}) {
      PermuteTileLimits limits;
      limits.out_quarters = quarters;
      limits.most_bytes = 20 << 10;
      EXPECT_LE(chosen, PredictedCost(MakePermutePlan(args, limits), args.element_bytes)) << c;
    }
  }
}

// Limits that are given are kept: tests and searches ask for tiles of their own.
TEST(PermuteTest, GivenLimitsAreNotChosen) {
  PermuteArgs args = CanonicalOf(Problem({15, 5, 4, 99, 28, 2}, {5, 2, 4, 0, 1, 3}, 2));
  PermuteTileLimits limits;
  limits.most_bytes = 2 << 10;
  limits.least_bytes = 2 << 10;
  args.limits = &limits;
  EXPECT_LE(ChoosePermutePlan(args).tile_bytes, 2 << 10);
}

// Flat tiles fit, too, and 16 bits hold all places in them.
TEST(PermuteTest, FlatTilesFitIntoSharedMemory) {
  int flat = 0;
  for (int64_t number = 0; number < 20000; ++number) {
    const PermuteCase c = RandomPermuteCase(8, number, int64_t{1} << (number % 31));
    PermuteProblem problem = Problem(c.extents, c.order, c.element_bytes);
    problem.out = At(uintptr_t{1} << 60);
    const auto checked = CheckedPermuteArgs(problem);
    ASSERT_TRUE(checked.ok()) << c << ": " << checked.status();
    const PermuteArgs args = Canonical(*checked);
    if (!IsFlat(args)) continue;
    ++flat;
    const PermuteFlatPlan plan = MakePermuteFlatPlan(args, FlatLimitsFor(args));
    EXPECT_LE(plan.shared_bytes, kMostSharedBytes) << c;
    EXPECT_LE(plan.tile_bytes, 1 << 16) << c;
    EXPECT_GE(int64_t{plan.row_tiles} * plan.tile_rows, plan.rows.extent) << c;
    EXPECT_GE(int64_t{plan.column_groups} * plan.group * plan.tile_columns, plan.columns.extent)
        << c;
    EXPECT_LT(int64_t{plan.row_tiles - 1} * plan.tile_rows, plan.rows.extent) << c;
    EXPECT_EQ(Elements(args), int64_t{plan.rows.extent} * plan.columns.extent * plan.batch.extent)
        << c;
  }
  EXPECT_GE(flat, 1000);
}

// So do tiles whose columns are joined, which cover every column once.
TEST(PermuteTest, JoinedTilesFitIntoSharedMemory) {
  int joined = 0;
  for (int64_t number = 0; number < 20000; ++number) {
    const PermuteCase c = RandomPermuteCase(9, number, int64_t{1} << (number % 31));
    PermuteProblem problem = Problem(c.extents, c.order, c.element_bytes);
    problem.out = At(uintptr_t{1} << 60);
    const auto checked = CheckedPermuteArgs(problem);
    ASSERT_TRUE(checked.ok()) << c << ": " << checked.status();
    const PermuteArgs args = Canonical(*checked);
    if (!CanJoinColumns(args)) continue;
    ++joined;
    const PermuteJoinedPlan plan = MakePermuteJoinedPlan(args, {});
    EXPECT_LE(plan.shared_bytes, kMostSharedBytes) << c;
    EXPECT_LE(plan.tile_bytes, 1 << 16) << c;
    EXPECT_LE(plan.rows.extent + 16 / args.element_bytes - 1, plan.table_rows) << c;
    EXPECT_EQ(plan.tile_columns % plan.joined_columns, 0) << c;
    EXPECT_GE(int64_t{plan.pieces} * plan.tile_columns, plan.period) << c;
    EXPECT_GE(int64_t{plan.column_tiles / plan.pieces} * plan.period, plan.columns.extent) << c;
    EXPECT_EQ(Elements(args), int64_t{plan.rows.extent} * plan.columns.extent * plan.batch.extent)
        << c;
  }
  EXPECT_GE(joined, 1000);
}

// So do blocks, and tiles of them end at multiples of 16 bytes.
TEST(PermuteTest, BlocksFitIntoSharedMemory) {
  int blocks = 0;
  for (int64_t number = 0; number < 20000; ++number) {
    const PermuteCase c = RandomPermuteCase(10, number, int64_t{1} << (number % 31));
    PermuteProblem problem = Problem(c.extents, c.order, c.element_bytes);
    problem.out = At(uintptr_t{1} << 60);
    const auto checked = CheckedPermuteArgs(problem);
    ASSERT_TRUE(checked.ok()) << c << ": " << checked.status();
    const PermuteArgs args = Canonical(*checked);
    if (!HasBlocks(args)) continue;
    ++blocks;
    const PermuteBlocksPlan plan = MakePermuteBlocksPlan(args, {});
    EXPECT_LE(plan.shared_bytes, kMostSharedBytes) << c;
    EXPECT_EQ(plan.tile_blocks * plan.block.extent * args.element_bytes % 16, 0) << c;
    EXPECT_GE(plan.tiles * plan.tile_blocks, plan.batch.extent) << c;
    EXPECT_EQ(Elements(args), int64_t{plan.block.extent} * plan.batch.extent) << c;
  }
  EXPECT_GE(blocks, 100);
}

// Whatever the shape, a tile fits into the shared memory of a block.
TEST(PermuteTest, TilesFitIntoSharedMemory) {
  for (int64_t number = 0; number < 20000; ++number) {
    const PermuteCase c = RandomPermuteCase(7, number, int64_t{1} << (number % 40));
    PermuteProblem problem = Problem(c.extents, c.order, c.element_bytes);
    problem.out = At(uintptr_t{1} << 60);
    const auto args = CheckedPermuteArgs(problem);
    ASSERT_TRUE(args.ok()) << c << ": " << args.status();
    const PermutePlan plan = ChoosePermutePlan(Canonical(*args));
    EXPECT_LE(plan.shared_bytes, kMostSharedBytes) << c;
    EXPECT_LE(plan.tile_bytes, 1 << 16) << c;  // Tables of positions have 16 bits.
    int64_t tiles = 1;
    for (int d = 0; d < plan.rank; ++d) {
      tiles *= (plan.dims[d].extent + plan.dims[d].tile - 1) / plan.dims[d].tile;
      EXPECT_LE(plan.dims[d].tile, plan.dims[d].held) << c;
    }
    EXPECT_GE(plan.blocks, tiles) << c;
  }
}

}  // namespace
}  // namespace stridewise
