#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bindings/cublas/test/call_runner.h"
#include "bindings/cublas/test/random_calls.h"
#include "gtest/gtest.h"

namespace stridewise::drop_in {
namespace {

constexpr double kMostFlops = 2e9;

class DropInGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status status = CallRunner::Create(0).status();
    if (absl::IsUnavailable(status)) GTEST_SKIP() << status;
    ASSERT_TRUE(status.ok()) << status;
  }
};

// Makes random calls on one stream, and expects results within the bound of cuBLAS's.
void ExpectRandomCallsAreRight(uint32_t seed, int calls, bool captured) {
  const absl::StatusOr<std::unique_ptr<CallRunner>> runner = CallRunner::Create(seed);
  ASSERT_TRUE(runner.ok()) << runner.status();
  std::mt19937_64 random(seed);
  for (int i = 0; i < calls; ++i) {
    const RandomCall call = DrawCall(random, kMostFlops);
    const absl::StatusOr<CallResult> result =
        captured ? (*runner)->RunCaptured(call) : (*runner)->Run(call, 0);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_LE(result->error_over_bound, 1)
        << "call " << i << " of seed " << seed << ": " << FunctionName(call.function) << " "
        << call.m << "x" << call.n << "x" << call.k << ", batch " << call.batch;
  }
}

TEST_F(DropInGpuTest, RandomCallsAgreeWithCublas) { ExpectRandomCallsAreRight(1, 300, false); }

TEST_F(DropInGpuTest, CapturedCallsAgreeWithCublas) { ExpectRandomCallsAreRight(2, 100, true); }

TEST_F(DropInGpuTest, FourThreadsWithAStreamEachAgreeWithCublas) {
  std::vector<std::thread> threads;
  for (uint32_t seed = 10; seed < 14; ++seed) {
    threads.emplace_back([seed] { ExpectRandomCallsAreRight(seed, 100, false); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace stridewise::drop_in
