// StreamedMatMul() on a GPU: budgets that force many tiles, pinned and pageable memory, types,
// cancelled and resumed.

#include <atomic>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device_gpu_fixture.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "matmul/streamed/streamed_matmul.h"
#include "matmul/streamed/streamed_test_problem.h"

namespace stridewise {
namespace {

constexpr auto kColumns = MatrixLayout::kColumnMajor;
constexpr StreamedCase kCases[] = {
    {1, 1, 1},
    {5, 7, 0, false, false, 1, 2},
    {129, 127, 65},
    {300, 200, 400, false, false, 2, -1, 3},
    {257, 511, 333, true, false, 1, 1, 1},
    {512, 256, 700, false, true, -1, 2, 4},
    {400, 310, 170, true, true, 1, 1},
    {1, 3000, 500, true, false, 1, 1, 2},
    {2000, 1, 500, false, true},
    {400, 300, 200, false, true, 1, 1, 3, kColumns},
};

using StreamedMatMulTest = DeviceGpuTest;

TEST_F(StreamedMatMulTest, MultipliesWithAnyMemory) {
  for (const StreamedCase& c : kCases) {
    for (const int64_t bytes : {int64_t{100'000}, int64_t{1'000'000}, int64_t{0}}) {
      StreamedTestProblem<> problem(c);
      StreamOptions options;
      options.device_bytes = bytes;
      int64_t finished = 0;
      options.progress = [&](int64_t done, int64_t) { finished = done; };
      const auto plan = PlanStreamedMatMul(problem.problem(), options);
      ASSERT_TRUE(plan.ok()) << plan.status();
      const absl::Status status = StreamedMatMul(problem.problem(), options);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_TRUE(problem.IsRight()) << c << ", " << bytes << " bytes";
      EXPECT_EQ(finished, plan->tiles_down * plan->tiles_across);
    }
  }
}

TEST_F(StreamedMatMulTest, PinnedMemory) {
  StreamedTestProblem<> problem({1000, 900, 1100, false, false, 1, 1, 4});
  MatMulProblem pinned = problem.problem();
  const auto pin = [](auto* operand, size_t bytes, HostBuffer* buffer) {
    auto allocated = HostBuffer::Allocate(bytes, HostMemory::kPinned);
    ASSERT_TRUE(allocated.ok()) << allocated.status();
    *buffer = *std::move(allocated);
    std::memcpy(buffer->data(), operand->data, bytes);
    operand->data = buffer->data();
  };
  HostBuffer a, b, c;
  const size_t c_bytes = 4 * (1000 * pinned.c.ld - 4);
  void* const result = pinned.c.data;
  ASSERT_NO_FATAL_FAILURE(pin(&pinned.a, 4 * 1000 * pinned.a.ld, &a));
  ASSERT_NO_FATAL_FAILURE(pin(&pinned.b, 4 * 1100 * pinned.b.ld, &b));
  ASSERT_NO_FATAL_FAILURE(pin(&pinned.c, c_bytes, &c));
  StreamOptions options;
  options.device_bytes = 2'000'000;
  const absl::Status status = StreamedMatMul(pinned, options);
  ASSERT_TRUE(status.ok()) << status;
  std::memcpy(result, c.data(), c_bytes);
  EXPECT_TRUE(problem.IsRight());
}

TEST_F(StreamedMatMulTest, TensorTypes) {
  const StreamedCase c = {300, 260, 500, false, true, 1, 1, 8};
  StreamOptions options;
  options.device_bytes = 400'000;
  StreamedTestProblem<Bf16> bf16(c);
  absl::Status status = StreamedMatMul(bf16.problem(), options);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(bf16.IsRight());
  StreamedTestProblem<int8_t, int32_t> int8({300, 260, 500, false, true, 1, 0, 16});
  status = StreamedMatMul(int8.problem(), options);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(int8.IsRight());
}

// Sums of small whole numbers are exact in FP32 and where floats are split.
TEST_F(StreamedMatMulTest, Precisions) {
  for (const MatMulPrecision precision :
       {MatMulPrecision::kFp32Split, MatMulPrecision::kFp32SplitInt8, MatMulPrecision::kTf32,
        MatMulPrecision::kBf16, MatMulPrecision::kFp16}) {
    StreamedTestProblem<> problem({700, 640, 1500, false, false, 1, 1, 4});
    MatMulProblem split = problem.problem();
    split.precision = precision;
    StreamOptions options;
    options.device_bytes = 8'000'000;
    const absl::Status status = StreamedMatMul(split, options);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(problem.IsRight()) << PrecisionName(precision);
  }
}

TEST_F(StreamedMatMulTest, GoesOnAfterCancelled) {
  StreamedTestProblem<> problem({700, 650, 600, false, false, 1, -1, 1});
  StreamCheckpoint checkpoint;
  std::atomic<bool> cancel = false;
  StreamOptions options;
  options.device_bytes = 500'000;
  options.checkpoint = &checkpoint;
  options.cancel = &cancel;
  options.progress = [&](int64_t done, int64_t) { cancel = done >= 2; };
  EXPECT_TRUE(absl::IsCancelled(StreamedMatMul(problem.problem(), options)));
  EXPECT_FALSE(problem.IsRight());
  options.cancel = nullptr;
  options.progress = nullptr;
  const absl::Status status = StreamedMatMul(problem.problem(), options);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(problem.IsRight());
}

TEST_F(StreamedMatMulTest, RefusesDevicesThatAreNotThere) {
  StreamedTestProblem<> problem({8, 8, 8});
  const int count = gpu::DeviceCount().value();
  for (const std::vector<int>& devices :
       {std::vector<int>{-1}, std::vector<int>{count}, std::vector<int>{0, 0}}) {
    StreamOptions options;
    options.devices = devices;
    EXPECT_TRUE(absl::IsInvalidArgument(StreamedMatMul(problem.problem(), options)));
  }
  StreamOptions options;
  options.device_bytes = 1000;
  EXPECT_TRUE(absl::IsResourceExhausted(StreamedMatMul(problem.problem(), options)));
}

}  // namespace
}  // namespace stridewise
