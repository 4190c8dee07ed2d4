// Which kernel of tensor cores the predictions prefer for small products whose rows begin anywhere,
// and how it divides k, at products that were measured on an H200.

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/device/tensor/direct_plan.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/ring_plan.h"
#include "matmul/device/tensor/small_plan.h"
#include "matmul/device/tensor/tiny_plan.h"
#include "matmul/device/tensor/vector_plan.h"
#include "matmul/test/bf16_product.h"

namespace stridewise {
namespace {

// A long k is divided by as many warps as there may be, since each of their steps waits for memory;
// a short one by those of a block, which need no cluster.
TEST(TensorAnyRowsPlanTest, TensorDirectDividesK) {
  const struct {
    int64_t m;
    int64_t n;
    int64_t k;
    int few, log_split, log_warps_of_k;
  } cases[] = {{5, 272, 6242, 8, 4, 2},
               {272, 5, 6242, 8, 4, 2},
               {11, 5, 217, 8, 0, 2},
               {60, 5, 10697, 8, 4, 2},
               {20, 32, 40, 32, 0, 2}};
  for (const auto& c : cases) {
    const DirectPlan plan = PlanTensorDirect(Bf16Product(c.m, c.n, c.k, true), H200Model());
    EXPECT_EQ(plan.few, c.few) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_EQ(plan.log_split, c.log_split) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_EQ(plan.log_warps_of_k, c.log_warps_of_k) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_EQ(plan.transposed, c.m < c.n);
    DeviceModel old = H200Model();
    old.compute_capability = 80;
    EXPECT_EQ(PlanTensorDirect(Bf16Product(c.m, c.n, c.k, true), old).log_split, 0);
  }
}

// Both directions of the same product are divided alike: blocks divide k until all multiprocessors
// have one, and where there are few of them until a step is left for each.
TEST(TensorAnyRowsPlanTest, TensorRingDividesK) {
  const struct {
    int64_t m, n, k;
    int few, log_split;
  } cases[] = {{1438, 28, 6386, 32, 3}, {690, 20, 7259, 32, 3}, {4, 3, 11609, 8, 4},
               {3160, 1, 8682, 8, 2},   {10, 151, 15, 16, 0},   {36, 1, 64, 8, 0}};
  for (const auto& c : cases) {
    for (const bool turned : {false, true}) {
      const MatMulArgs args = Bf16Product(turned ? c.n : c.m, turned ? c.m : c.n, c.k, true);
      ASSERT_TRUE(TensorRingTakes(args));
      const RingPlan plan = PlanTensorRing(args, H200Model());
      EXPECT_EQ(plan.few, c.few) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_EQ(plan.log_split, c.log_split) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_EQ(plan.transposed, args.m < args.n);
      DeviceModel old = H200Model();
      old.compute_capability = 80;
      EXPECT_EQ(PlanTensorRing(args, old).log_split, 0);
    }
  }
}

// On an H200 1438x28x6386 took 34 us by tensor_direct and takes 24 by tensor_ring, 1x36x781 in a
// batch of 633 40 by tensor_vector and 28, 4x3x11609 18 by tensor_tiny and 11. What is over before
// a ring is full is faster by others: 32x21x30 in a batch of 779 takes 17, and 12 by tensor_small.
TEST(TensorAnyRowsPlanTest, RowsOfAnyAlignmentTakeTensorRing) {
  const auto us_of_others = [](const MatMulArgs& args) {
    double us =
        std::min(PlanTensorDirect(args, H200Model()).us, PlanTensorSmall(args, H200Model()).us);
    us = std::min(us, PlanTensorTiny(args).us);
    return TensorVectorTakes(args) ? std::min(us, PlanTensorVector(args, H200Model()).us) : us;
  };
  MatMulArgs batch = Bf16Product(1, 36, 781, true);
  batch.batch = 633;
  batch.a.stride = 781;
  batch.b.stride = 36 * 781;
  for (const MatMulArgs& args :
       {Bf16Product(1438, 28, 6386, true), Bf16Product(2631, 27, 7219, false), batch}) {
    EXPECT_LT(PlanTensorRing(args, H200Model()).us, us_of_others(args)) << args.m << "x" << args.n;
  }
  MatMulArgs short_k = Bf16Product(32, 21, 30, false);
  short_k.batch = 779;
  short_k.a.stride = 32 * 30;
  short_k.b.stride = 21 * 30;
  EXPECT_GT(PlanTensorRing(short_k, H200Model()).us, us_of_others(short_k));
}

// Blocks divide k until a step or two is left for each, or all multiprocessors are busy.
TEST(TensorAnyRowsPlanTest, TensorSmallDividesK) {
  const struct {
    int64_t m;
    int64_t n;
    int64_t k;
    int log_split;
  } cases[] = {{45, 5015, 32, 0}, {254, 16, 266, 3}, {1661, 20, 354, 3}, {81, 9, 597, 4},
               {42, 70, 5346, 4}, {300, 300, 64, 0}, {255, 255, 255, 2}, {8475, 1222, 149, 0}};
  for (const auto& c : cases) {
    const MatMulArgs args = Bf16Product(c.m, c.n, c.k, true);
    ASSERT_TRUE(TensorSmallTakes(args));
    EXPECT_EQ(PlanTensorSmall(args, H200Model()).log_split, c.log_split)
        << c.m << "x" << c.n << "x" << c.k;
    DeviceModel old = H200Model();
    old.compute_capability = 80;
    EXPECT_EQ(PlanTensorSmall(args, old).log_split, 0);
  }
}

// 45x5015x32 took 8.9 us by tensor_general and 5.8 by tensor_small, 254x16x266 9.3 by tensor_direct
// and 6.6; of 60x5x10697 tensor_direct loads the large operand faster.
TEST(TensorAnyRowsPlanTest, SmallProductsTakeTensorSmall) {
  for (const MatMulArgs& args :
       {Bf16Product(45, 5015, 32, true), Bf16Product(1661, 20, 354, false),
        Bf16Product(254, 16, 266, true), Bf16Product(96, 79, 366, false)}) {
    const double us = PlanTensorSmall(args, H200Model()).us;
    EXPECT_LT(us, PlanTensorGeneral(args, H200Model()).us) << args.m << "x" << args.n;
    EXPECT_LT(us, PlanTensorDirect(args, H200Model()).us) << args.m << "x" << args.n;
    if (args.m == 254) continue;  // tensor_tiny is expected to take as long.
    EXPECT_LT(us, PlanTensorTiny(args).us) << args.m << "x" << args.n;
  }
  for (const MatMulArgs& args :
       {Bf16Product(60, 5, 10697, true), Bf16Product(7, 13, 50000, false)}) {
    EXPECT_LT(PlanTensorDirect(args, H200Model()).us, PlanTensorSmall(args, H200Model()).us)
        << args.m << "x" << args.n;
  }
  for (const MatMulArgs& args : {Bf16Product(3, 11, 7, true), Bf16Product(179, 9, 2, false)}) {
    EXPECT_LT(PlanTensorTiny(args).us, PlanTensorSmall(args, H200Model()).us)
        << args.m << "x" << args.n;
  }
}

// The threads of tensor_tiny load all of a single element's k together. 25x1x5420 took 12.1 us by a
// kernel that loads it in several trips.
TEST(TensorAnyRowsPlanTest, TensorTinyDividesK) {
  for (const MatMulArgs& args : {Bf16Product(2, 1, 134, false), Bf16Product(25, 1, 5420, false)}) {
    const TinyPlan plan = PlanTensorTiny(args);
    EXPECT_GE(kTinyTogether << plan.log_slices(), args.k) << args.m << "x" << args.n;
  }
}

// Neighbouring threads load neighbours, whichever way the operands lie: along k, or along the rows
// or columns of C.
TEST(TensorAnyRowsPlanTest, TensorTinyLoadsNeighbours) {
  MatMulArgs along_k = Bf16Product(64, 1, 500, true);
  EXPECT_GE(PlanTensorTiny(along_k).log_lanes, 2);
  MatMulArgs along_m = Bf16Product(4000, 1, 20, true);
  along_m.a.ld = along_m.m;
  along_m.a.transposed = true;
  const TinyPlan plan = PlanTensorTiny(along_m);
  EXPECT_GE(plan.transposed ? plan.log_cols : plan.log_rows, 3);
}

// The grid has no more blocks in y than a device takes.
TEST(TensorAnyRowsPlanTest, TensorTinyFitsAGrid) {
  for (const MatMulArgs& args :
       {Bf16Product(3, 10'000'000, 2, false), Bf16Product(10'000'000, 3, 2, true)}) {
    const TinyPlan plan = PlanTensorTiny(args);
    EXPECT_LE(CeilDiv(plan.transposed ? args.m : args.n, int64_t{1} << plan.log_cols), kMaxGridYZ);
  }
}

}  // namespace
}  // namespace stridewise
