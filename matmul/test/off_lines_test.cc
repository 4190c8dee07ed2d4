// What rows that begin within lines of the L2 cost, beside times measured on an H200, and which
// tiles products of such rows take.

#include "matmul/device/tensor/off_lines.h"

#include <cstdint>

#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/tile_plan.h"
#include "matmul/test/bf16_product.h"

namespace stridewise {
namespace {

// With these leading dimensions.
MatMulArgs Product(int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb) {
  MatMulArgs args = Bf16Product(m, n, k, /*transpose_b=*/false);
  args.a.ld = lda;
  args.b.ld = ldb;
  return args;
}

TensorPlan Tile(int rows, int cols, int cluster) { return {cols, 1, cluster, false, 0, rows}; }

TEST(OffLinesTest, SaysWhatBlocksTakeToLoad) {
  const struct {
    int64_t m, n, k;
    TensorPlan plan;
    double us;
  } cases[] = {
      {2000, 2008, 2000, Tile(64, 64, 1), 69.8},   {2000, 2008, 2000, Tile(64, 128, 1), 56.5},
      {2000, 2008, 2000, Tile(128, 128, 1), 39.4}, {2000, 2008, 2000, Tile(128, 256, 1), 33.7},
      {1000, 1000, 4096, Tile(64, 64, 1), 35.8},   {1000, 1000, 4096, Tile(64, 128, 1), 30.1},
      {1000, 1000, 4096, Tile(128, 128, 1), 32.5}, {520, 1000, 4104, Tile(64, 64, 1), 37.4},
      {520, 1000, 4104, Tile(64, 128, 1), 30.1},   {520, 1000, 4104, Tile(128, 128, 1), 37.2}};
  for (const auto& c : cases) {
    const double us = OffLinesUs(Product(c.m, c.n, c.k, c.k, c.n), c.plan, H200Model());
    EXPECT_NEAR(us / c.us, 1, 0.1)
        << c.m << "x" << c.n << "x" << c.k << " in " << c.plan.rows << "x" << c.plan.cols;
  }
}

TEST(OffLinesTest, CountsTheOperandThatIsOff) {
  const DeviceModel h200 = H200Model();
  const TensorPlan wide = Tile(64, 256, 1);
  EXPECT_EQ(OffLinesUs(Product(2000, 2008, 2000, 2048, 2048), wide, h200), 0);
  const double a_off = OffLinesUs(Product(2000, 2008, 2000, 2000, 2048), wide, h200);
  const double b_off = OffLinesUs(Product(2000, 2008, 2000, 2048, 2008), wide, h200);
  const double both = OffLinesUs(Product(2000, 2008, 2000, 2000, 2008), wide, h200);
  EXPECT_LT(a_off, b_off);
  EXPECT_LT(b_off, both);
  // In a tile of C transposed the rows are B's.
  TensorPlan turned = wide;
  turned.transposed = true;
  EXPECT_LT(OffLinesUs(Product(2000, 2008, 2000, 2048, 2008), turned, h200),
            OffLinesUs(Product(2000, 2008, 2000, 2000, 2048), turned, h200));
  // Few rows wait for memory, which sends each line once.
  EXPECT_EQ(OffLinesUs(Product(64, 2008, 2000, 2000, 2008), wide, h200), 0);
}

// 2000 x 2008 x 2000 takes 31.6 us on an H200 in clusters of 128 x 256, and 39.4 in tiles of
// 128 x 128. Where rows begin with lines it is faster.
TEST(OffLinesTest, WideTilesForRowsWithinLines) {
  const TensorPlan off = PlanTensorTile(Product(2000, 2008, 2000, 2000, 2008), H200Model());
  EXPECT_EQ(off.cols, 256);
  EXPECT_EQ(off.cluster, 2);
  const TensorPlan on = PlanTensorTile(Product(2000, 2008, 2000, 2048, 2048), H200Model());
  EXPECT_LT(on.us, off.us);
}

}  // namespace
}  // namespace stridewise
