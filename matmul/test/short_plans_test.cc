// The plans of the kernels for products of some microseconds, `brief`, `brief_matvec` and `direct`.

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"
#include "matmul/brief_matvec_plan.h"
#include "matmul/brief_plan.h"
#include "matmul/direct_plan.h"

namespace stridewise {
namespace {

struct Extents {
  int64_t m, n, k, batch;
};
constexpr Extents kProducts[] = {{1, 1, 0, 1},        {0, 3, 1, 1},       {3, 0, 1, 1},
                                 {1, 1, 1, 1},        {16, 16, 5, 3},     {4, 37, 326, 1},
                                 {54, 12, 321, 6},    {349, 186, 588, 1}, {12, 2, 11743, 1},
                                 {2048, 2048, 64, 1}, {31, 309, 164, 1},  {1, 4, 65536, 2},
                                 {7, 59, 48, 475},    {1 << 20, 3, 1, 1}, {128, 128, 129, 1},
                                 {3, 1444, 289, 1},   {8, 8, 8, 65535}};

TEST(PlanBriefTest, PartsCoverTheProduct) {
  for (const Extents& of : kProducts) {
    for (const DeviceModel& device : {H200Model(), DeviceModel{80, 108}}) {
      const BriefPlan plan = PlanBrief(of.m, of.n, of.k, of.batch, 4, 1, device);
      const BriefShape& shape = kBriefShapes[plan.shape];
      EXPECT_EQ(plan.tiles, CeilDiv(of.m, shape.rows) * CeilDiv(of.n, shape.cols));
      EXPECT_GT(plan.k_of_part, 0);
      EXPECT_EQ(plan.k_of_part % 4, 0);
      EXPECT_GE(int64_t{plan.parts} * plan.k_of_part, of.k);
      // No part is empty, unless all of them are.
      EXPECT_TRUE(plan.parts == 1 || (plan.parts - 1) * int64_t{plan.k_of_part} < of.k);
      EXPECT_TRUE(plan.parts == 1 || device.compute_capability >= 90);
    }
  }
}

// One tile of a deep k leaves all but one multiprocessor idle, tiles for all of them none.
TEST(PlanBriefTest, DividesTheKOfFewTiles) {
  EXPECT_EQ(PlanBrief(13, 11, 1200, 1, 1, 1, H200Model()).parts, 8);
  EXPECT_EQ(PlanBrief(512, 512, 100, 1, 1, 1, H200Model()).parts, 1);
}

TEST(PlanBriefMatVecTest, BlocksCoverTheResults) {
  for (const Extents& of : kProducts) {
    const int64_t cols = std::max<int64_t>({of.m, of.n, 1});
    for (const bool k_major : {false, true}) {
      const BriefMatVecPlan plan = PlanBriefMatVec(cols, of.k, of.batch, k_major, H200Model());
      ASSERT_GE(plan.loads, 1);
      if (k_major) {
        const int64_t lanes = int64_t{1} << plan.log_lanes;
        EXPECT_GE(plan.groups * plan.rows, cols);
        EXPECT_LE(lanes, kBriefRowsThreads);
        // Each row of a group has a lane that stores it.
        EXPECT_LE(plan.rows, lanes);
        EXPECT_GE(plan.blocks * (kBriefRowsThreads / lanes), plan.groups * of.batch);
        EXPECT_GE(plan.rounds * plan.loads * lanes, of.k);
      } else {
        EXPECT_EQ(plan.groups, cols);
        EXPECT_LT(plan.log_cols, kLogBriefColumnsThreads);
        EXPECT_GE(plan.blocks << plan.log_cols, cols * of.batch);
        EXPECT_GE(plan.rounds * plan.loads << (kLogBriefColumnsThreads - plan.log_cols), of.k);
      }
    }
  }
}

TEST(PlanBriefMatVecTest, TakesAsManyResultsAs32BitsCount) {
  EXPECT_TRUE(FitsBriefMatVecPlan(INT32_MAX, 1));
  EXPECT_FALSE(FitsBriefMatVecPlan(INT32_MAX, 2));
  EXPECT_FALSE(FitsBriefMatVecPlan(int64_t{INT32_MAX} + 1, 1));
}

TEST(PlanDirectTest, BlocksCoverC) {
  for (const Extents& of : kProducts) {
    const DirectPlan plan = PlanDirect(of.m, of.n, of.k);
    EXPECT_GE(plan.rows_at_once, 1);
    EXPECT_LE(plan.rows_at_once * plan.cols, kDirectThreads);
    EXPECT_GE(plan.cols * plan.col_blocks, of.n);
    EXPECT_GE(plan.rows_at_once * plan.rows_of_thread * plan.row_blocks, of.m);
  }
}

TEST(PlanDirectTest, TakesAsManyColumnsAsAGridHas) {
  EXPECT_TRUE(FitsDirectPlan(kDirectThreads * kMaxGridYZ, 8, 1));
  EXPECT_FALSE(FitsDirectPlan(kDirectThreads * kMaxGridYZ + 1, 8, 1));
  EXPECT_FALSE(FitsDirectPlan(1, 9, 1));
  EXPECT_FALSE(FitsDirectPlan(1, 8, kMaxGridYZ + 1));
}

}  // namespace
}  // namespace stridewise
