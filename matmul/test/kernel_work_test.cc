// The work that predictions count is the work that plans make.

#include "matmul/kernel_work.h"

#include <cstdint>
#include <string>

#include "common/base/case_random.h"
#include "gtest/gtest.h"
#include "matmul/dispatch.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/tma_clusters.h"

namespace stridewise {
namespace {

MatMulArgs Gapless(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.a.ld = k;
  args.b.ld = args.c.ld = n;
  args.a.stride = m * k;
  args.b.stride = k * n;
  args.c.stride = m * n;
  args.batch = batch;
  return WithAnyWorkspace(args);
}

constexpr MatMulTile k64x64 = {64, 64, 32, 2, {1.5, 2.5}, 6};

MatMulWork Of(const MatMulArgs& args, const MatMulTile& tile = k64x64) {
  const DeviceModel device = H200Model();
  return TileWork(MatMulCall(args, device), tile);
}

// 4 tiles of two steps: one block on each of 4 multiprocessors.
TEST(TileWorkTest, CountsARoundThatIsNotFull) {
  const MatMulWork work = Of(Gapless(128, 128, 64));
  EXPECT_EQ(work.launches, 1);
  EXPECT_EQ(work.rounds, 1);
  EXPECT_EQ(work.tiles, 1);
  EXPECT_EQ(work.steps, 2);
  EXPECT_EQ(work.block_steps, 2);
  EXPECT_DOUBLE_EQ(work.slow_copies, 1);  // Of A.
  EXPECT_DOUBLE_EQ(work.dram_mb, 4 * (2 * 128 * 64 + 128 * 128) / 1e6);
  EXPECT_DOUBLE_EQ(work.fill, 4 / 264.0);
  EXPECT_DOUBLE_EQ(work.waste, 1);
  EXPECT_EQ(work.units, 0);
}

// 492 tiles, four on a multiprocessor that has room for eight: a step then takes less than on a
// full one, so that they are divided only where they have many.
TEST(TileWorkTest, DividesWhatSharesAMultiprocessorOnlyWhereThatPays) {
  constexpr MatMulTile kEightBlocks = {64, 64, 16, 8, {1.5, 7}, 6};
  EXPECT_EQ(Of(Gapless(354, 5244, 338), kEightBlocks).units, 0);
  EXPECT_EQ(Of(Gapless(354, 5244, 5000), kEightBlocks).units, 8 * 132);
}

// 1000 tiles in batches of 1: three rounds of 264, and 208 of the fourth, two on a multiprocessor.
TEST(TileWorkTest, CountsRounds) {
  const MatMulWork work = Of(Gapless(63, 64, 32, 1000));
  EXPECT_EQ(work.rounds, 4);
  EXPECT_EQ(work.tiles, 8);
  EXPECT_EQ(work.steps, 4);
  EXPECT_DOUBLE_EQ(work.last, 208 / 264.0);
  EXPECT_DOUBLE_EQ(work.waste, 64 / 63.0);
}

// 4 tiles of 128 steps, which 256 units of two divide; without a workspace they stay whole.
TEST(TileWorkTest, SplitsWhereThereIsAWorkspace) {
  MatMulArgs args = Gapless(128, 128, 128 * 32);
  const MatMulWork split = Of(args);
  EXPECT_EQ(split.launches, 2);
  EXPECT_EQ(split.units, 256);
  EXPECT_EQ(split.steps, 2);
  EXPECT_EQ(split.block_steps, 4);
  // Without, clusters of 16 blocks divide them: there is room for 15, and so one for each tile.
  args.workspace_bytes = 0;
  const MatMulWork clusters = Of(args);
  EXPECT_EQ(clusters.launches, 1);
  EXPECT_EQ(clusters.units, 64);
  EXPECT_EQ(clusters.steps, 8);
  EXPECT_EQ(clusters.cluster_tiles, 1);
  EXPECT_EQ(clusters.cluster_blocks, 16);
  // 24 tiles have clusters of 8, and pairs beside them for the ends of their k.
  MatMulArgs ends = Gapless(4 * 64, 6 * 64, 448 * 32);
  ends.workspace_bytes = 0;
  const MatMulWork two = Of(ends);
  EXPECT_EQ(two.launches, 2);
  EXPECT_EQ(two.units, 240);
  EXPECT_DOUBLE_EQ(two.steps, 44.8);
  EXPECT_EQ(two.cluster_blocks, 10);
  // Older GPUs have no clusters.
  DeviceModel old = H200Model();
  old.compute_capability = 80;
  const MatMulWork whole = TileWork(MatMulCall(args, old), k64x64);
  EXPECT_EQ(whole.launches, 1);
  EXPECT_EQ(whole.units, 0);
  EXPECT_EQ(whole.steps, 128);
}

TEST(TileWorkTest, HasNoStepsWhereAlphaIs0) {
  MatMulArgs args = Gapless(128, 128, 128);
  args.alpha = 0;
  EXPECT_EQ(Of(args).steps, 0);
}

// With a workspace tiles are split as TileWork() says, whatever the layout; without, four
// tiles of 128 steps are divided by clusters of 16 blocks and of 8 beside them.
TEST(TmaWorkTest, SplitsAmongUnitsOrClusters) {
  constexpr MatMulTile k128x128 = {128, 128, 32, 2, 4.5};
  MatMulArgs args = Gapless(256, 256, 128 * 32);
  const DeviceModel device = H200Model();
  const MatMulWork split = TmaWork(MatMulCall(args, device), k128x128);
  EXPECT_EQ(split.units, Of(args, k128x128).units);
  EXPECT_EQ(split.slow_copies, 0);
  args.workspace_bytes = 0;
  const MatMulWork clusters = TmaWork(MatMulCall(args, device), k128x128);
  EXPECT_EQ(clusters.launches, 2);
  EXPECT_EQ(clusters.units, 96);
  EXPECT_EQ(clusters.steps, 6);
  EXPECT_EQ(clusters.cluster_tiles, 1);
  EXPECT_EQ(clusters.cluster_blocks, 24);
  EXPECT_EQ(clusters.fixup_mb, 0);
}

// 264 blocks run at once: that number of tiles stays whole, and a few tiles are divided further the
// fewer they are, as long as a block has two steps.
TEST(TmaClustersTest, DividesFewTiles) {
  const auto blocks = [](int64_t tiles, int64_t steps) {
    return PlanTmaClusters(tiles, steps, /*split_cost=*/2, /*multiprocessors=*/132).blocks;
  };
  EXPECT_EQ(blocks(264, 100), 1);
  EXPECT_EQ(blocks(132, 100), 2);
  EXPECT_EQ(blocks(62, 100), 4);
  EXPECT_EQ(blocks(4, 1000), 16);
  EXPECT_EQ(blocks(4, 3), 1);
  // 265 whole tiles would take two rounds of 100 steps; seven rounds of clusters take 7 * 19.
  EXPECT_EQ(blocks(265, 100), 6);
  EXPECT_EQ(PlanTmaClusters(4, 1000, 2, 8).blocks, 3);  // Eight multiprocessors: 4 such clusters.
}

// 132 blocks of 4 rows by 128 columns; 64 rows where there are many; 16 rows where columns are few.
TEST(OuterWorkTest, CountsTheBlocksOfItsPlan) {
  const DeviceModel device = H200Model();
  const auto work_of = [&](const MatMulArgs& args) {
    return OuterWork(MatMulCall(args, device), MatMulTile());
  };
  const MatMulWork few = work_of(Gapless(4 * 132, 128, 3));
  EXPECT_EQ(few.launches, 1);
  EXPECT_EQ(few.rounds, 1);
  EXPECT_EQ(few.tiles, 1);
  EXPECT_EQ(few.steps, 1);
  EXPECT_DOUBLE_EQ(few.waste, 1);
  const MatMulWork many = work_of(Gapless(64 * 132 * 20, 128, 3));
  EXPECT_EQ(many.tiles, 20);
  EXPECT_EQ(many.block_steps, 320);
  EXPECT_DOUBLE_EQ(work_of(Gapless(16, 8, 3)).waste, 1);
  EXPECT_DOUBLE_EQ(work_of(Gapless(16, 9, 3)).waste, 32.0 / 9);
}

// A tile of 12x12 saves half of the loads of four of 8x8. 100 products have 100 tiles for 4224
// warps that are wanted: 31 steps are divided among four warps, of which none has fewer than four.
// 5000 products need no such thing. 16x16 elements take tiles of 8x8, two blocks to a
// multiprocessor.
TEST(DotsWorkTest, CountsTheBlocksOfItsPlan) {
  const DeviceModel device = H200Model();
  const auto work_of = [&](const MatMulArgs& args) {
    return DotsWork(MatMulCall(args, device), MatMulTile());
  };
  const MatMulWork few = work_of(Gapless(10, 9, 973, 100));
  EXPECT_EQ(few.launches, 1);
  EXPECT_EQ(few.rounds, 1);
  EXPECT_EQ(few.tiles, 1);  // 50 blocks.
  EXPECT_EQ(few.steps, 8);
  EXPECT_EQ(few.block_steps, 8);
  EXPECT_EQ(few.slow_copies, 8);  // B's.
  EXPECT_DOUBLE_EQ(few.waste, 144 / 90.0);
  const MatMulWork many = work_of(Gapless(10, 9, 973, 5000));
  EXPECT_EQ(many.rounds, 5);  // 625 blocks.
  EXPECT_EQ(many.steps, 5 * 31);
  const MatMulWork square = work_of(Gapless(16, 16, 32, 500));
  EXPECT_EQ(square.tiles, 2);  // 250 blocks.
  EXPECT_EQ(square.waste, 1);
}

// The workspace that the plans of the kernels ask for is that of the units that are counted.
TEST(TileWorkTest, SplitsAsTheKernelsDo) {
  int split = 0;
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    if (row.work != TileWork) continue;
    const auto on_host = OnHostExecutor(*row.entry);
    ASSERT_TRUE(on_host.ok()) << on_host.status();
    for (const DeviceModel& device : {H200Model(), SmallModel()}) {
      for (int64_t number = 0; number < 500; ++number) {
        CaseRandom random(/*seed=*/17, number);
        MatMulArgs args =
            Gapless(random.Between(1, 1 << random.Between(1, 12)),
                    random.Between(1, 1 << random.Between(1, 12)),
                    random.Between(1, 1 << random.Between(1, 14)), random.Between(1, 3));
        args.device_model = &device;
        const MatMulTile& tile = row.entry->tile;
        const double units = TileWork(MatMulCall(args, device), tile).units;
        ASSERT_EQ(2 * units * tile.rows.value * tile.cols.value * sizeof(float),
                  MatMulWorkspaceBytes(*on_host, args))
            << row.implementation << ": " << args.m << "x" << args.n << "x" << args.k << " b"
            << args.batch << " on " << device.multiprocessors;
        split += units > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(split, 100);
}

}  // namespace
}  // namespace stridewise
