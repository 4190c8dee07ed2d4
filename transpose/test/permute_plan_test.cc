// The tiles of Permute(): how they are chosen, and that they fit wherever the shape leads.

#include "transpose/permute_plan.h"

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "transpose/permute_args.h"
#include "transpose/permute_blocks_plan.h"
#include "transpose/permute_flat_plan.h"
#include "transpose/permute_joined_plan.h"
#include "transpose/permute_plan_choice.h"
#include "transpose/test/permute_problems.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace {

// That a block of compute capability 8.6, 8.9 or 12.0 may have; others have more.
constexpr int kMostSharedBytes = 99 << 10;

// Two pictures that become every second column of one: 128 pairs of floats are one run of out, and
// not the rows of it that are contiguous in the tile.
TEST(PermutePlanTest, LongRunsAreFurtherRows) {
  const PermutePlan plan =
      MakePermutePlan(CanonicalOf(GaplessProblem({512, 2, 2, 128, 128}, {0, 3, 1, 4, 2})), {});
  EXPECT_EQ(plan.out_run_held, 256);
  EXPECT_GE(plan.out_rows_held, 16);
  EXPECT_EQ(plan.log2_neighbours, 4);
}

// 99 elements of 2 bytes are one run of out: a tile that holds all of them stores no part of a run
// twice, where tiles of 32 of them would load 47.
TEST(PermutePlanTest, ChosenTilesHoldShortRunsWhole) {
  const PermuteArgs args =
      CanonicalOf(GaplessProblem({15, 5, 4, 99, 28, 2}, {5, 2, 4, 0, 1, 3}, 2));
  EXPECT_TRUE(MakePermutePlan(args, {}).out_shifts);
  const PermutePlan plan = ChoosePermutePlan(args);
  EXPECT_FALSE(plan.out_shifts);
  EXPECT_EQ(plan.out_run_held, 99);
}

TEST(PermutePlanTest, ChosenPlansHaveTheLeastPredictedCost) {
  for (int64_t number = 0; number < 200; ++number) {
    const PermuteCase c = RandomPermuteCase(11, number, int64_t{1} << 22);
    const PermuteArgs args = CanonicalOf(c);
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
TEST(PermutePlanTest, GivenLimitsAreNotChosen) {
  PermuteArgs args = CanonicalOf(GaplessProblem({15, 5, 4, 99, 28, 2}, {5, 2, 4, 0, 1, 3}, 2));
  PermuteTileLimits limits;
  limits.most_bytes = 2 << 10;
  limits.least_bytes = 2 << 10;
  args.limits = &limits;
  EXPECT_LE(ChoosePermutePlan(args).tile_bytes, 2 << 10);
}

// A thread keeps its latest plans: those that it finds are those that another thread makes.
TEST(PermutePlanTest, KeptPlansAreOfTheSameDimensionsAndAlignment) {
  const PermuteArgs args =
      CanonicalOf(GaplessProblem({15, 5, 4, 99, 28, 2}, {5, 2, 4, 0, 1, 3}, 2));
  const auto moved = [](const void* data) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data) + 2);
  };
  std::vector<PermuteArgs> all(6, args);
  all[1].in = moved(args.in);
  all[2].out = moved(args.out);
  --all[3].dims[1].extent;
  all[4].dims[args.rank - 1].stride_in *= 2;
  all[5].dims[args.rank - 1].stride_out *= 2;
  const auto summary = [](const PermutePlan& plan) {
    std::vector<int64_t> numbers = {plan.rank,         plan.blocks,   plan.tile_bytes,
                                    plan.shared_bytes, plan.out_ends, plan.log2_class_bytes,
                                    plan.in_chunks};
    for (const TileDimension& dim : plan.dims) {
      numbers.insert(numbers.end(), {dim.extent, dim.stride_in, dim.stride_out, dim.tile});
    }
    return numbers;
  };
  for (int turn = 0; turn < 2; ++turn) {
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<int64_t> anew;
      std::thread([&] { anew = summary(ChoosePermutePlan(all[i])); }).join();
      EXPECT_EQ(summary(ChoosePermutePlan(args)), summary(ChoosePermutePlan(all[0]))) << i;
      EXPECT_EQ(summary(ChoosePermutePlan(all[i])), anew) << i;
    }
  }
}

// Flat tiles fit, too, and 16 bits hold all places in them.
TEST(PermutePlanTest, FlatTilesFitIntoSharedMemory) {
  int flat = 0;
  for (int64_t number = 0; number < 20000; ++number) {
    const PermuteCase c = RandomPermuteCase(8, number, int64_t{1} << (number % 31));
    const PermuteArgs args = CanonicalOf(c);
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
TEST(PermutePlanTest, JoinedTilesFitIntoSharedMemory) {
  int joined = 0;
  for (int64_t number = 0; number < 20000; ++number) {
    const PermuteCase c = RandomPermuteCase(9, number, int64_t{1} << (number % 31));
    const PermuteArgs args = CanonicalOf(c);
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
TEST(PermutePlanTest, BlocksFitIntoSharedMemory) {
  int blocks = 0;
  for (int64_t number = 0; number < 20000; ++number) {
    const PermuteCase c = RandomPermuteCase(10, number, int64_t{1} << (number % 31));
    const PermuteArgs args = CanonicalOf(c);
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
TEST(PermutePlanTest, TilesFitIntoSharedMemory) {
  for (int64_t number = 0; number < 20000; ++number) {
    const PermuteCase c = RandomPermuteCase(7, number, int64_t{1} << (number % 40));
    const PermutePlan plan = ChoosePermutePlan(CanonicalOf(c));
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
