#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bindings/cublas/test/call_runner.h"
#include "bindings/cublas/test/expect_random_calls.h"
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

TEST_F(DropInGpuTest, RandomCallsAgreeWithCublas) {
  ExpectRandomCallsAreRight(1, 300, {kMostFlops}, /*captured=*/false);
}

TEST_F(DropInGpuTest, CapturedCallsAgreeWithCublas) {
  ExpectRandomCallsAreRight(2, 100, {kMostFlops}, /*captured=*/true);
}

TEST_F(DropInGpuTest, FourThreadsWithAStreamEachAgreeWithCublas) {
  std::vector<std::thread> threads;
  for (uint32_t seed = 10; seed < 14; ++seed) {
    threads.emplace_back(
        [seed] { ExpectRandomCallsAreRight(seed, 100, {kMostFlops}, /*captured=*/false); });
  }
  for (std::thread& thread : threads) thread.join();
}

// A product that needs more workspace than the one that runs takes nothing from it.
TEST_F(DropInGpuTest, WorkspacesGrowBehindProductsThatRun) {
  constexpr int kLeast = 1792;
  constexpr int kMost = 4095;
  constexpr size_t kElements = size_t{kMost} * kMost;
  constexpr int kRounds = 5;
  float* data = nullptr;  // A, B, and the results of the first product, alone and before another.
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 5 * kElements * sizeof(float)),
            cudaSuccess);
  float* const b = data + kElements;
  ASSERT_EQ(cudaMemset(data, 0x3e, 2 * kElements * sizeof(float)), cudaSuccess);
  std::vector<float> got[2];
  for (int round = 0; round < kRounds; ++round) {
    for (const bool alone : {true, false}) {
      cublasHandle_t handle = nullptr;
      ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
      const float one = 1;
      const float zero = 0;
      const auto multiply = [&](int n, float* c) {
        return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, data, n, b, n, &zero, c,
                           n);
      };
      float* const c = data + 2 * kElements;
      // Several, so that the last still runs when the workspace grows.
      for (int i = 0; i < 10; ++i) ASSERT_EQ(multiply(kLeast, c), CUBLAS_STATUS_SUCCESS);
      if (!alone) {
        ASSERT_EQ(multiply(kMost, c + kElements), CUBLAS_STATUS_SUCCESS);
      }
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      std::vector<float>& results = got[alone ? 1 : 0];
      results.resize(size_t{kLeast} * kLeast);
      ASSERT_EQ(
          cudaMemcpy(results.data(), c, results.size() * sizeof(float), cudaMemcpyDeviceToHost),
          cudaSuccess);
      ASSERT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
    }
    EXPECT_EQ(got[0], got[1]) << "round " << round;
  }
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

// Handles are made on each device, and their calls in turn, so that nothing of one is used for
// another.
TEST_F(DropInGpuTest, HandlesOfEveryDeviceAgreeWithCublas) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  std::vector<std::unique_ptr<CallRunner>> runners;
  for (int device = 0; device < devices; ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    absl::StatusOr<std::unique_ptr<CallRunner>> runner = CallRunner::Create(3);
    ASSERT_TRUE(runner.ok()) << runner.status();
    runners.push_back(*std::move(runner));
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 50; ++i) {
    const RandomCall call = DrawCall(random, {kMostFlops});
    for (int device = 0; device < devices; ++device) {
      ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
      const absl::StatusOr<CallResult> result = runners[static_cast<size_t>(device)]->Run(call, 0);
      ASSERT_TRUE(result.ok()) << "device " << device << ": " << result.status();
      EXPECT_LE(result->error_over_bound, 1) << "call " << i << " on device " << device;
    }
  }
  for (int device = 0; device < devices; ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    runners[static_cast<size_t>(device)].reset();
  }
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

}  // namespace
}  // namespace stridewise::drop_in
