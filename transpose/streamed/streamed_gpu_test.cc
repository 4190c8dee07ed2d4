// StreamedTranspose() on a GPU: budgets that force many tiles, element sizes, cancelled and
// resumed.

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "common/gpu/device_gpu_fixture.h"
#include "gtest/gtest.h"
#include "transpose/streamed/streamed_test_transpose.h"
#include "transpose/streamed/streamed_transpose.h"

namespace stridewise {
namespace {

constexpr StreamedTransposeCase kCases[] = {
    {1, 1, 4},        {1, 30000, 1, 3},   {30000, 1, 2},    {517, 619, 4},   {640, 1024, 8, 1},
    {1025, 63, 4, 2}, {1000, 700, 16, 1}, {7, 10000, 4, 5}, {1281, 1293, 2}, {2000, 3000, 1},
};

using StreamedTransposeTest = DeviceGpuTest;

TEST_F(StreamedTransposeTest, TransposesWithAnyMemory) {
  for (const StreamedTransposeCase& c : kCases) {
    for (const int64_t bytes : {int64_t{200'000}, int64_t{2'000'000}, int64_t{0}}) {
      StreamedTestTranspose problem(c);
      StreamOptions options;
      options.device_bytes = bytes;
      const absl::Status status = StreamedTranspose(problem.in(), problem.out(), options);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_TRUE(problem.IsRight()) << c << ", " << bytes << " bytes";
    }
  }
}

TEST_F(StreamedTransposeTest, GoesOnAfterCancelled) {
  StreamedTestTranspose problem({1700, 1650, 4, 1});
  StreamCheckpoint checkpoint;
  std::atomic<bool> cancel = false;
  StreamOptions options;
  options.device_bytes = 500'000;
  options.checkpoint = &checkpoint;
  options.cancel = &cancel;
  options.progress = [&](int64_t done, int64_t) { cancel = done >= 5; };
  EXPECT_TRUE(absl::IsCancelled(StreamedTranspose(problem.in(), problem.out(), options)));
  EXPECT_FALSE(problem.IsRight());
  options.cancel = nullptr;
  options.progress = nullptr;
  const absl::Status status = StreamedTranspose(problem.in(), problem.out(), options);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(problem.IsRight());
}

}  // namespace
}  // namespace stridewise
