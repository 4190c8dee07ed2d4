#include "matmul/streamed/stream_plan.h"

#include <cstdint>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(StreamPlanTest, FitsTheBudgetAndCoversTheProduct) {
  for (const int64_t m : {1, 7, 100, 4097, 65536}) {
    for (const int64_t n : {1, 63, 5000, 131072}) {
      for (const int64_t k : {0, 1, 1000, 40000}) {
        for (const int64_t bytes : {int64_t{1} << 16, int64_t{1} << 24, 2 * kGiB}) {
          for (const int64_t devices : {1, 3}) {
            const StreamedProduct product = {m, n, k, 4, 4, true};
            const auto plan = PlanStreamedProduct(product, {bytes, devices, {}});
            ASSERT_TRUE(plan.ok()) << plan.status();
            EXPECT_LE(plan->device_bytes, bytes);
            EXPECT_GE(plan->device_bytes, 2 * plan->tile_rows * plan->tile_cols * 4);
            EXPECT_GE(plan->tiles_down * plan->tile_rows, m);
            EXPECT_LT((plan->tiles_down - 1) * plan->tile_rows, m);
            EXPECT_GE(plan->tiles_across * plan->tile_cols, n);
            EXPECT_LT((plan->tiles_across - 1) * plan->tile_cols, n);
            EXPECT_GE(plan->steps, 1);
            EXPECT_GE(plan->steps * plan->depth, k);
            EXPECT_GT(plan->seconds, 0);
          }
        }
      }
    }
  }
}

TEST(StreamPlanTest, CountsTheBytesThatMove) {
  const StreamedProduct product = {100, 60, 30, 2, 4, true};
  const MatMulStreamPlan plan = PlanWithTiles(product, {kGiB, 1, {}}, 40, 25);
  EXPECT_EQ(plan.tiles_down, 3);
  EXPECT_EQ(plan.tiles_across, 3);
  EXPECT_EQ(plan.bytes_in, 3 * 100 * 30 * 2 + 3 * 30 * 60 * 2 + 100 * 60 * 4);
  EXPECT_EQ(plan.bytes_out, 100 * 60 * 4);
  EXPECT_EQ(PlanWithTiles({100, 60, 30, 2, 4, false}, {kGiB, 1, {}}, 40, 25).bytes_in,
            3 * 100 * 30 * 2 + 3 * 30 * 60 * 2);
}

// A square of 131072 with a few GB of memory is bound by the arithmetic, as the bound of docs
// says: tiles of 4200 x 4200 and more do not wait for their panels.
TEST(StreamPlanTest, LargeProductsAreBoundByTheArithmetic) {
  const int64_t n = 131072;
  const StreamedProduct product = {n, n, n, 4, 4, false};
  const StreamRates rates;
  const double arithmetic = 2.0 * n * n * n / rates.flops;
  for (const int64_t gib : {2, 4, 16, 120}) {
    const auto plan = PlanStreamedProduct(product, {gib * kGiB, 1, rates});
    ASSERT_TRUE(plan.ok());
    EXPECT_GE(plan->seconds, arithmetic);
    EXPECT_LE(plan->seconds, 1.04 * arithmetic) << gib;
  }
  const auto small = PlanStreamedProduct(product, {64 << 20, 1, rates});
  ASSERT_TRUE(small.ok());
  EXPECT_GT(small->seconds, 1.2 * arithmetic);
  // Panels keep rows that are worth a copy, also where copies are what takes the time.
  const auto pageable = PlanStreamedProduct(product, {4 * kGiB, 1, kPageableRates});
  ASSERT_TRUE(pageable.ok());
  EXPECT_GT(pageable->seconds, 1.5 * arithmetic);
  EXPECT_GE(pageable->depth, 512);
}

TEST(StreamPlanTest, SharesTilesBetweenDevices) {
  const int64_t n = 65536;
  const StreamedProduct product = {n, n, n, 4, 4, false};
  const auto one = PlanStreamedProduct(product, {8 * kGiB, 1, {}});
  for (const int64_t devices : {2, 4, 8}) {
    const auto plan = PlanStreamedProduct(product, {8 * kGiB, devices, {}});
    ASSERT_TRUE(plan.ok());
    EXPECT_GE(plan->tiles_down * plan->tiles_across, devices);
    EXPECT_LE(plan->seconds, 1.1 * one->seconds / static_cast<double>(devices));
  }
}

TEST(StreamPlanTest, KeepsGivenTiles) {
  const StreamedProduct product = {1000, 900, 800, 4, 4, false};
  const MatMulStreamPlan plan = PlanWithTiles(product, {1 << 20, 1, {}}, 300, 2000);
  EXPECT_EQ(plan.tile_rows, 300);
  EXPECT_EQ(plan.tile_cols, 900);
}

TEST(StreamPlanTest, NothingToDoAndNoRoom) {
  for (const StreamedProduct& empty :
       {StreamedProduct{0, 5, 5}, StreamedProduct{5, 0, 5}, StreamedProduct{0, 0, 0}}) {
    const auto plan = PlanStreamedProduct(empty, {0, 1, {}});
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->tiles_down * plan->tiles_across, 0);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(PlanStreamedProduct({5, 5, 5}, {100, 1, {}}).status()));
}

}  // namespace
}  // namespace stridewise
