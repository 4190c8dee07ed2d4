// Which kernel of tensor cores the predictions prefer for few rows or columns that the TMA can
// address, at products that were measured on an H200.

#include <array>
#include <cstdint>
#include <vector>

#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/lines_plan.h"
#include "matmul/device/tensor/pair_plan.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/split_plan.h"
#include "matmul/device/tensor/tile_plan.h"
#include "matmul/test/bf16_product.h"

namespace stridewise {
namespace {

// Few rows read B once: tensor_tile's panels of A are empty but for them, and took 48 us for one
// row and 14336 columns, tensor_split 33.
TEST(TensorFewRowsPlanTest, FewRowsTakeTensorSplit) {
  const struct {
    int64_t m;
    int64_t n;
    int64_t k;
  } cases[] = {
      {1, 4096, 4096},   {1, 14336, 4096},  {8, 11008, 4096},
      {16, 14336, 4096}, {16, 4096, 14336}, {32, 4096, 4096},
  };
  for (const auto& c : cases) {
    for (const bool transpose_b : {false, true}) {
      const MatMulArgs args = Bf16Product(c.m, c.n, c.k, transpose_b);
      const TensorPlan split = PlanTensorSplit(args, H200Model());
      EXPECT_LT(split.us, PlanTensorTile(args, H200Model()).us) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_TRUE(split.transposed);
    }
  }
}

// Up to 64 rows: as many blocks as run at once, with tiles whose width divides the columns. On an
// H200 1 x 4096 x 14336 took 37 us by tensor_split and takes 33.8.
TEST(TensorFewRowsPlanTest, FewRowsOfManyTakeTensorDecode) {
  const struct {
    int64_t m, n, k;
    int cols, split;
  } cases[] = {{64, 4096, 4096, 64, 2},
               {64, 4096, 14336, 64, 2},
               {64, 14336, 4096, 112, 1},
               {1, 4096, 14336, 64, 2},
               {16, 4096, 14336, 64, 2}};
  for (const auto& c : cases) {
    for (const bool transpose_b : {false, true}) {
      if (!transpose_b && c.cols != 64) continue;
      const MatMulArgs args = Bf16Product(c.m, c.n, c.k, transpose_b);
      ASSERT_TRUE(TensorDecodeTakes(args));
      const DecodePlan plan = PlanTensorDecode(args, H200Model());
      EXPECT_EQ(plan.cols, c.cols) << c.n << "x" << c.k;
      EXPECT_EQ(plan.split, c.split) << c.n << "x" << c.k;
      EXPECT_FALSE(plan.transposed);
      EXPECT_LT(plan.us, PlanTensorSplit(args, H200Model()).us) << c.n << "x" << c.k;
    }
  }
  EXPECT_TRUE(PlanTensorDecode(Bf16Product(4096, 64, 4096, false), H200Model()).transposed);
  EXPECT_FALSE(TensorDecodeTakes(Bf16Product(65, 4096, 4096, false)));
  EXPECT_EQ(PlanTensorDecode(Bf16Product(64, 14336, 4096, false), H200Model()).resident, 2);
  // No tile is so wide that all would run at once.
  EXPECT_EQ(PlanTensorDecode(Bf16Product(64, 128256, 4096, false), H200Model()).cols, 0);
}

// Lines of the few that do not lie along k have as many bytes as a swizzle of the TMA exchanges, or
// are whole ones of eight of k.
TEST(TensorFewRowsPlanTest, RowsOfTheFewInAStage) {
  MatMulInput input = {};
  for (const auto& [few, ld, k, rows] : std::vector<std::array<int, 4>>{{8, 8, 4096, 8},
                                                                        {8, 16, 4096, 16},
                                                                        {7, 8, 4096, 16},
                                                                        {8, 8, 4095, 16},
                                                                        {16, 16, 4096, 16},
                                                                        {17, 24, 4096, 32},
                                                                        {33, 40, 4096, 64},
                                                                        {64, 64, 4096, 64}}) {
    input.ld = ld;
    EXPECT_EQ(DecodeFewRows(input, few, k, /*few_along_k=*/false), rows) << few << " of " << ld;
    EXPECT_EQ(DecodeFewRows(input, few, k, /*few_along_k=*/true), (few + 7) / 8 * 8) << few;
  }
}

// All blocks run at once, two of them side by side where there are more than eight rows. They win
// where memory is as slow as an H100's.
TEST(TensorFewRowsPlanTest, TilesOfPairs) {
  const DeviceModel h100 = WithMemoryRate(H200Model(), 3352);
  const struct {
    int64_t m, n, k;
    int cols, cluster;
    int64_t clusters;
  } cases[] = {{1, 4096, 4096, 8, 1, 64},
               {8, 4096, 4096, 8, 1, 64},
               {16, 4096, 14336, 8, 2, 64},
               {32, 4096, 4096, 16, 2, 64}};
  for (const auto& c : cases) {
    for (const bool transpose_b : {false, true}) {
      const MatMulArgs args = Bf16Product(c.m, c.n, c.k, transpose_b);
      const PairPlan plan = PlanTensorPair(args, h100);
      EXPECT_EQ(plan.cols, c.cols) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_EQ(plan.cluster, c.cluster) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_EQ(plan.clusters, c.clusters) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_LT(plan.us, PlanTensorSplit(args, h100).us) << c.m << "x" << c.n << "x" << c.k;
    }
  }
  // More rows, more tiles than run at once, and so few that most multiprocessors would idle.
  EXPECT_EQ(PlanTensorPair(Bf16Product(33, 4096, 4096, true), H200Model()).cols, 0);
  EXPECT_EQ(PlanTensorPair(Bf16Product(16, 14336, 4096, true), H200Model()).cols, 0);
  EXPECT_EQ(PlanTensorPair(Bf16Product(16, 1024, 4096, true), H200Model()).cols, 0);
  MatMulArgs across = Bf16Product(16, 4096, 4096, false);  // Neither operand lies along k.
  across.a.transposed = true;
  across.a.ld = 16;
  EXPECT_EQ(PlanTensorPair(across, H200Model()).cols, 0);
}

// Up to 16 rows beside whole lines, of which two stages of 4096 of k are on their way.
TEST(TensorFewRowsPlanTest, WholeLines) {
  const MatMulArgs args = Bf16Product(16, 14336, 4096, true);
  const DeviceModel h100 = WithMemoryRate(H200Model(), 3352);
  const LinesPlan deep = PlanTensorLines(args, h100);
  EXPECT_EQ(deep.chunks, 8);
  EXPECT_EQ(deep.stages, 2);
  EXPECT_TRUE(deep.transposed);
  EXPECT_LT(deep.us, PlanTensorSplit(args, h100).us);
  EXPECT_GT(PlanTensorLines(args, H200Model()).us, PlanTensorSplit(args, H200Model()).us);
  const LinesPlan shallow = PlanTensorLines(Bf16Product(14336, 8, 1032, false), H200Model());
  EXPECT_EQ(shallow.chunks, 3);
  EXPECT_EQ(shallow.stages, 5);
  EXPECT_FALSE(shallow.transposed);
  // Rows that are no vectors, more rows, more of k than registers hold, less, and lines across k.
  EXPECT_EQ(PlanTensorLines(Bf16Product(14336, 6, 1032, false), h100).chunks, 0);
  EXPECT_EQ(PlanTensorLines(Bf16Product(17, 14336, 4096, true), H200Model()).chunks, 0);
  EXPECT_EQ(PlanTensorLines(Bf16Product(16, 4096, 4104, true), H200Model()).chunks, 0);
  EXPECT_EQ(PlanTensorLines(Bf16Product(16, 4096, 512, true), H200Model()).chunks, 0);
  EXPECT_EQ(PlanTensorLines(Bf16Product(16, 14336, 4096, false), H200Model()).chunks, 0);
}

}  // namespace
}  // namespace stridewise
