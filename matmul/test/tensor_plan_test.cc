// Which kernel of tensor cores the predictions prefer, at products that were measured on an H200.

#include <cstdint>

#include "common/base/element_type.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {
namespace {

MatMulArgs Bf16Product(int64_t m, int64_t n, int64_t k, bool transpose_b) {
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.a.type = args.b.type = args.c.type = ElementType::kBf16;
  args.a.ld = k;
  args.b.ld = transpose_b ? k : n;
  args.b.transposed = transpose_b;
  args.c.ld = n;
  return args;
}

// Few rows read B once: tensor_tile's panels of A are empty but for them, and took 48 us for one
// row and 14336 columns, tensor_split 33.
TEST(TensorPlanTest, FewRowsTakeTensorSplit) {
  const struct {
    int64_t m;
    int64_t n;
    int64_t k;
    int split;
  } cases[] = {
      {1, 4096, 4096, 2},   {1, 14336, 4096, 1},  {8, 11008, 4096, 1}, {16, 14336, 4096, 1},
      {64, 14336, 4096, 1}, {16, 4096, 14336, 2}, {64, 4096, 4096, 3},
  };
  for (const auto& c : cases) {
    for (const bool transpose_b : {false, true}) {
      const MatMulArgs args = Bf16Product(c.m, c.n, c.k, transpose_b);
      const TensorPlan split = PlanTensorSplit(args, H200Model());
      EXPECT_LT(split.us, PlanTensorTile(args, H200Model()).us) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_EQ(split.split, c.split) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_TRUE(split.transposed);
    }
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
