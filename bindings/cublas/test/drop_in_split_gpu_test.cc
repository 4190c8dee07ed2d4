// The drop-in's calls with STRIDEWISE_SGEMM=split, which is read once, so that they have a program
// of their own.

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bindings/cublas/settings.h"
#include "bindings/cublas/test/call_runner.h"
#include "bindings/cublas/test/expect_random_calls.h"
#include "bindings/cublas/test/random_calls.h"
#include "common/gpu/device_model.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "matmul/matmul.h"

namespace stridewise::drop_in {
namespace {

// Of the products of 1e9 to 2e10 operations two thirds are faster when they are split.
constexpr CallKinds kLarge = {/*most_flops=*/2e10, /*least_flops=*/1e9};

class DropInSplitGpuTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("STRIDEWISE_SGEMM", "split", /*replace=*/1); }
  void SetUp() override {
    const absl::Status status = CallRunner::Create(0).status();
    if (absl::IsUnavailable(status)) GTEST_SKIP() << status;
    ASSERT_TRUE(status.ok()) << status;
    const absl::StatusOr<const DeviceModel*> device = gpu::CurrentModel();
    ASSERT_TRUE(device.ok()) << device.status();
    if ((*device)->compute_capability != H200Model().compute_capability) {
      GTEST_SKIP() << "does not apply: splits run on Hopper";
    }
    ASSERT_EQ(CurrentSettings().sgemm, MatMulPrecision::kFp32Split);
  }
};

TEST_F(DropInSplitGpuTest, RandomCallsAgreeWithCublas) {
  EXPECT_GT(ExpectRandomCallsAreRight(21, 200, kLarge, /*captured=*/false), 100);
}

TEST_F(DropInSplitGpuTest, CapturedCallsAgreeWithCublas) {
  EXPECT_GT(ExpectRandomCallsAreRight(22, 60, kLarge, /*captured=*/true), 25);
}

TEST_F(DropInSplitGpuTest, FourThreadsWithAStreamEachAgreeWithCublas) {
  std::vector<std::thread> threads;
  for (uint32_t seed = 23; seed < 27; ++seed) {
    threads.emplace_back(
        [seed] { EXPECT_GT(ExpectRandomCallsAreRight(seed, 40, kLarge, /*captured=*/false), 18); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace stridewise::drop_in
