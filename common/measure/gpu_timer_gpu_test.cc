// The timer on a GPU: it counts the work, and not what the host does meanwhile.

#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device_gpu_fixture.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/launched_kernels.h"
#include "common/measure/gpu_timer.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Keeps the stream busy with a hold of the test's own that ends only by its time-out.
class GpuTimerTest : public DeviceGpuTest {
 protected:
  void SetUp() override {
    DeviceGpuTest::SetUp();
    if (IsSkipped()) return;
    flags_ = HostBuffer::Allocate(sizeof(HoldFlags), HostMemory::kPinned).value();
    new (flags_.data()) HoldFlags;
  }

  absl::Status SpinMs(uint64_t ms, cudaStream_t stream) {
    return HoldStream(flags_.As<HoldFlags>(), ++spins_, ms * 1000000, stream);
  }

  static void SleepMs(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

  HostBuffer flags_;
  uint64_t spins_ = 0;
};

TEST_F(GpuTimerTest, AHoldEndsByItsTicketOrByItself) {
  auto* flags = flags_.As<HoldFlags>();
  constexpr uint64_t kTenSecondsNs = 10'000'000'000;
  const auto start = std::chrono::steady_clock::now();
  flags->released = 2;
  for (const uint64_t ticket : {1, 2}) {
    ASSERT_TRUE(HoldStream(flags, ticket, kTenSecondsNs, nullptr).ok());
  }
  ASSERT_TRUE(gpu::Synchronize(nullptr).ok());
  EXPECT_EQ(flags->timed_out, 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));

  ASSERT_TRUE(HoldStream(flags, 3, 1'000'000, nullptr).ok());
  ASSERT_TRUE(gpu::Synchronize(nullptr).ok());
  EXPECT_EQ(flags->timed_out, 3u);
}

TEST_F(GpuTimerTest, CountsTheWorkAndNotTheHost) {
  for (const bool cold_l2 : {false, true}) {
    auto timer = GpuTimer::Create(device_, cold_l2);
    ASSERT_TRUE(timer.ok()) << timer.status();
    EXPECT_GT((*timer)->EmptyKernelMs(), 0);
    const auto time = [&](int sleep_ms) {
      return (*timer)->TimeOnce([=](cudaStream_t stream) -> absl::Status {
        RETURN_IF_ERROR(SpinMs(1, stream));
        SleepMs(sleep_ms);
        return SpinMs(1, stream);
      });
    };
    const auto without = time(0);
    const auto with = time(100);
    ASSERT_TRUE(without.ok()) << without.status();
    ASSERT_TRUE(with.ok()) << with.status();
    EXPECT_GE(*with, 2.0);  // The device spins for 2 ms: less would be a clock that lies.
    if ((*timer)->holds_stream()) {
      EXPECT_LT(*with, *without + 50);  // Beside it: a checker slows every launch by milliseconds.
    }
  }
}

TEST_F(GpuTimerTest, TimesWorkThatLaunchesNothingOrIsCaptured) {
  auto timer = GpuTimer::Create(device_, /*cold_l2=*/false);
  ASSERT_TRUE(timer.ok()) << timer.status();
  const auto nothing = (*timer)->TimeOnce([](cudaStream_t) { return absl::OkStatus(); });
  ASSERT_TRUE(nothing.ok()) << nothing.status();
  EXPECT_GE(*nothing, 0);

  std::vector<std::string> names;
  const auto captured = (*timer)->TimeOnce([&](cudaStream_t stream) -> absl::Status {
    ASSIGN_OR_RETURN(names, LaunchedKernels(LaunchEmptyKernel, stream));
    return absl::OkStatus();
  });
  ASSERT_TRUE(captured.ok()) << captured.status();
  EXPECT_EQ(names, std::vector<std::string>({"EmptyKernel"}));
}

TEST_F(GpuTimerTest, DiscardsARunThatWasNotQueuedInTime) {
  auto timer = GpuTimer::Create(device_, /*cold_l2=*/true);
  ASSERT_TRUE(timer.ok()) << timer.status();
  int prepared = 0;
  int runs = 0;
  const auto time = (*timer)->TimeOnce(
      [&](cudaStream_t stream) -> absl::Status {
        RETURN_IF_ERROR(LaunchEmptyKernel(stream));
        if (runs++ == 0) SleepMs(400);  // The hold ends after 250.
        return LaunchEmptyKernel(stream);
      },
      [&](cudaStream_t) {
        ++prepared;
        return absl::OkStatus();
      });
  ASSERT_TRUE(time.ok()) << time.status();
  if (!(*timer)->holds_stream()) return;
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(prepared, 2);
  EXPECT_LT(*time, 100.0);
}

TEST_F(GpuTimerTest, TimesWorkThatWaitsForItsStreamWithoutAHold) {
  auto timer = GpuTimer::Create(device_, /*cold_l2=*/false);
  ASSERT_TRUE(timer.ok()) << timer.status();
  if (!(*timer)->holds_stream()) return;
  int runs = 0;
  const auto time = (*timer)->TimeOnce([&](cudaStream_t stream) {
    ++runs;
    return gpu::Synchronize(stream);
  });
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(runs, 3);  // Two that were held, and the one that counts.
  EXPECT_LT(*time, 100.0);
  EXPECT_TRUE((*timer)->TimeOnce(LaunchEmptyKernel).ok());
}

// A held stream takes about 1000 launches before the next one waits.
TEST_F(GpuTimerTest, TimesWorkOfMoreLaunchesThanAStreamQueues) {
  auto timer = GpuTimer::Create(device_, /*cold_l2=*/false);
  ASSERT_TRUE(timer.ok()) << timer.status();
  const auto time = (*timer)->TimeOnce([&](cudaStream_t stream) {
    absl::Status status;
    for (int i = 0; i < 3000; ++i) status.Update(LaunchEmptyKernel(stream));
    return status;
  });
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_GT(*time, 0.0);
}

TEST_F(GpuTimerTest, RunsWhatPreparesBeforeTheWorkAndDoesNotCountIt) {
  auto timer = GpuTimer::Create(device_, /*cold_l2=*/true);
  ASSERT_TRUE(timer.ok()) << timer.status();
  std::string order;
  const auto time = (*timer)->TimeOnce(
      [&](cudaStream_t stream) {
        order += "work ";
        return LaunchEmptyKernel(stream);
      },
      [&](cudaStream_t stream) {
        order += "prepare ";
        return SpinMs(20, stream);
      });
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(order, "prepare work ");
  EXPECT_LT(*time, 10.0);  // The preparation spins for 20 ms.
  const auto failed = (*timer)->TimeOnce(
      LaunchEmptyKernel, [](cudaStream_t) { return absl::InvalidArgumentError("no"); });
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(GpuTimerTest, PassesErrorsOn) {
  auto timer = GpuTimer::Create(device_, /*cold_l2=*/true);
  ASSERT_TRUE(timer.ok());
  const auto time =
      (*timer)->TimeOnce([](cudaStream_t) { return absl::InvalidArgumentError("no"); });
  EXPECT_EQ(time.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE((*timer)->TimeOnce(LaunchEmptyKernel).ok());
}

}  // namespace
}  // namespace stridewise
