// Which tiles the predictions prefer for large products of BF16, at products that were measured on
// an H200.

#include <array>
#include <cstdint>
#include <vector>

#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/device/tensor/divided_plan.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/single_plan.h"
#include "matmul/device/tensor/split_plan.h"
#include "matmul/device/tensor/tile_plan.h"
#include "matmul/device/tensor/turned_plan.h"
#include "matmul/test/bf16_product.h"

namespace stridewise {
namespace {

// 8192 x 8192 x 8192 and 2048 x 11008 x 5120 took a fortieth and a tenth less on an H200 with their
// last tiles divided; 4096 x 4096 x 16384, which fills its last round, a tenth more.
TEST(TensorPlanTest, LastTilesAreDividedWhereARoundIsHalfEmpty) {
  const struct {
    int64_t m, n, k;
    bool divided;
  } cases[] = {{8192, 8192, 8192, true},  {2048, 11008, 5120, true},  {5120, 2048, 4096, true},
               {4096, 4096, 4096, false}, {4096, 4096, 16384, false}, {2048, 8192, 8192, false},
               {1024, 1024, 1024, false}};
  for (const auto& c : cases) {
    const MatMulArgs args = Bf16Product(c.m, c.n, c.k, false);
    EXPECT_EQ(PlanTensorDivided(args, H200Model()).us < PlanTensorTile(args, H200Model()).us,
              c.divided)
        << c.m << "x" << c.n << "x" << c.k;
  }
}

// Squares of at most one tile for each multiprocessor: on an H200 1536 takes 15.8 us so, and 16.9
// by tensor_turned.
TEST(TensorPlanTest, OneTileForEachMultiprocessor) {
  const struct {
    int64_t size;
    int rows, cols;
    bool turned;
  } cases[] = {
      {512, 64, 32, true}, {1024, 64, 128, true}, {1536, 128, 144, true}, {2048, 128, 256, false}};
  for (const auto& c : cases) {
    const MatMulArgs args = Bf16Product(c.size, c.size, c.size, false);
    ASSERT_TRUE(TensorSingleTakes(args));
    const TensorPlan plan = PlanTensorSingle(args, H200Model());
    EXPECT_EQ(plan.rows, c.rows) << c.size;
    EXPECT_EQ(plan.cols, c.cols) << c.size;
    EXPECT_EQ(plan.transposed, c.turned) << c.size;
    EXPECT_LT(plan.us, PlanTensorTile(args, H200Model()).us) << c.size;
  }
  EXPECT_EQ(PlanTensorSingle(Bf16Product(2056, 4096, 2048, false), H200Model()).cols, 0);
  MatMulArgs args = Bf16Product(1024, 1020, 1024, false);  // Rows that are no vectors, and beta.
  EXPECT_FALSE(TensorSingleTakes(args));
  args = Bf16Product(1024, 1024, 1024, false);
  args.beta = 1;
  EXPECT_FALSE(TensorSingleTakes(args));
}

// Clusters share rows and columns where rows begin within lines, and lie within C but for one side.
TEST(TensorPlanTest, TilesInClusters) {
  const struct {
    int64_t m, n, k;
    int rows, cols, cluster;
  } cases[] = {{520, 1000, 4104, 64, 96, 8},
               {1544, 1000, 3000, 128, 128, 8},
               {2040, 264, 4104, 64, 128, 8},
               {1000, 1000, 1000, 128, 96, 4}};
  for (const auto& c : cases) {
    const TensorPlan plan = PlanTensorSingle(Bf16Product(c.m, c.n, c.k, false), H200Model());
    EXPECT_EQ(plan.rows, c.rows) << c.m;
    EXPECT_EQ(plan.cols, c.cols) << c.m;
    EXPECT_EQ(plan.cluster, c.cluster) << c.m;
  }
  for (const auto& [m, n, k] : std::vector<std::array<int, 3>>{
           {1024, 1024, 1024}, {1544, 520, 4104}, {2040, 2040, 1000}, {520, 1000, 72}}) {
    EXPECT_EQ(PlanTensorClustered(Bf16Product(m, n, k, false), H200Model()).cols, 0) << m;
  }
}

// 1536 x 1536 took 19.4 us in tiles of 128 x 192 and 17.0 in those of 144 x 128 (on an H100); 3072
// divides by 192.
TEST(TensorPlanTest, TensorTurnedFillsARound) {
  const MatMulArgs args = Bf16Product(1536, 1536, 1536, false);
  EXPECT_LT(PlanTensorTurned(args, H200Model()).us, PlanTensorTile(args, H200Model()).us);
  const MatMulArgs large = Bf16Product(3072, 3072, 3072, false);
  EXPECT_GT(PlanTensorTurned(large, H200Model()).us, PlanTensorTile(large, H200Model()).us);
}

// Tiles of 64 rows, of which there are twice as many, where those of 128 leave multiprocessors
// idle: 1024 x 512 x 4096 took 20 us on an H100 and takes 16. Few rows leave them to decoding.
TEST(TensorPlanTest, FewTilesAreLow) {
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{512, 512, 512}, {1024, 512, 4096}, {512, 64, 512}}) {
    const MatMulArgs args = Bf16Product(m, n, k, false);
    const DeviceModel h100 = WithMemoryRate(H200Model(), 3352);
    const TensorPlan plan = PlanTensorTile(args, h100);
    EXPECT_EQ(plan.rows, 64) << m << "x" << n << "x" << k;
    EXPECT_EQ(plan.cols, 64) << m << "x" << n << "x" << k;
    EXPECT_LT(plan.us, PlanTensorSplit(args, h100).us) << m << "x" << n << "x" << k;
  }
  EXPECT_EQ(PlanTensorTile(Bf16Product(8, 768, 3072, false), H200Model()).rows, 128);
  EXPECT_EQ(PlanTensorTile(Bf16Product(4096, 4096, 4096, false), H200Model()).rows, 128);
}

// 197 and 257 rows, which tiles of 128 and 256 rows fill badly, and extents that 160 divides. On an
// H100 257 x 5120 x 5120 took 54 us by tensor_tile and 35 by tensor_turned.
TEST(TensorPlanTest, TensorTurnedTakesRowsThatItsTilesFill) {
  const struct {
    int64_t m, n, k;
    int cols, cluster;
  } cases[] = {{257, 5120, 5120, 96, 4},
               {257, 32768, 8192, 144, 2},
               {5120, 512, 5120, 160, 1},
               {64, 14336, 4096, 64, 2}};
  for (const auto& c : cases) {
    const MatMulArgs args = Bf16Product(c.m, c.n, c.k, false);
    const TensorPlan plan = PlanTensorTurned(args, H200Model());
    EXPECT_EQ(plan.cols, c.cols) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_EQ(plan.cluster, c.cluster) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_LT(plan.us, PlanTensorSplit(args, H200Model()).us) << c.m << "x" << c.n << "x" << c.k;
    if (c.m == 64) continue;  // Tiles of 64 rows of tensor_tile take as long.
    EXPECT_LT(plan.us, PlanTensorTile(args, H200Model()).us) << c.m << "x" << c.n << "x" << c.k;
  }
}

// Three tiles of 96 would be a third empty: 197 x 5120 x 5120 took 39 us in them and 31 without.
TEST(TensorPlanTest, ClustersOfFourTakeRowsThatFillThem) {
  EXPECT_NE(PlanTensorTurned(Bf16Product(197, 5120, 5120, false), H200Model()).cols, 96);
}

// Few tiles and a long k: 197 x 3072 x 14336 took 82 us by tensor_tile and 44 by wide tiles in
// clusters of four.
TEST(TensorPlanTest, WideTilesDivideALongK) {
  const MatMulArgs args = Bf16Product(197, 3072, 14336, false);
  const TensorPlan plan = PlanTensorSplit(args, H200Model());
  EXPECT_EQ(plan.cols, 224);
  EXPECT_EQ(plan.split, 4);
  EXPECT_TRUE(plan.transposed);
  EXPECT_LT(plan.us, PlanTensorTile(args, H200Model()).us);
  EXPECT_LT(plan.us, PlanTensorTurned(args, H200Model()).us);
}

// Kernels that load C by the TMA (tensor_add.h) are there for two tiles.
TEST(TensorPlanTest, LargeProductsTakeTilesThatAddC) {
  for (const int64_t n : {2048, 3072, 4096, 8192}) {
    MatMulArgs args = Bf16Product(n, n, n, true);
    args.beta = 1;
    const TensorPlan plan = PlanTensorTile(args, H200Model());
    EXPECT_EQ(plan.cluster, 1) << n;
    EXPECT_EQ(plan.cols % 128, 0) << n;
    args.c.ld = n + 1;
    EXPECT_GT(PlanTensorTile(args, H200Model()).us, plan.us) << n;
    args.c.ld = n;
    args.beta = 0;
    EXPECT_LT(PlanTensorTile(args, H200Model()).us, plan.us) << n;
  }
}

TEST(TensorPlanTest, SquaresTakeTensorTile) {
  for (const int64_t n : {512, 1024, 2048, 4096}) {
    const MatMulArgs args = Bf16Product(n, n, n, true);
    EXPECT_LT(PlanTensorTile(args, H200Model()).us, PlanTensorSplit(args, H200Model()).us) << n;
  }
}

}  // namespace
}  // namespace stridewise
