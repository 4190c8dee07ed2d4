// Tests on a GPU: buffers, fills, the timer and whole measurements.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/launched_kernels.h"
#include "common/measure/device_measurement.h"
#include "common/measure/gpu_timer.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

class DeviceGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
    device_ = *device;
  }

  template <typename T>
  std::vector<T> ToHost(const DeviceBuffer& buffer) {
    std::vector<T> host(buffer.bytes() / sizeof(T));
    EXPECT_TRUE(gpu::Copy(host.data(), buffer.data(), buffer.bytes()).ok());
    return host;
  }

  DeviceInfo device_;
};

TEST_F(DeviceGpuTest, DescribesItself) {
  EXPECT_FALSE(device_.name.empty());
  EXPECT_GT(device_.multiprocessors, 0);
  EXPECT_GT(device_.l2_bytes, 0);
  EXPECT_GT(PeakBandwidthGbps(device_), 0);
  EXPECT_GT(PeakFp32Gflops(device_), 0);
  const auto model = gpu::CurrentModel();
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->compute_capability, 10 * device_.compute_major + device_.compute_minor);
  EXPECT_EQ((*model)->multiprocessors, device_.multiprocessors);
}

TEST_F(DeviceGpuTest, FillsLikeTheHost) {
  constexpr int64_t kRows = 37;
  constexpr int64_t kCols = 61;
  constexpr int64_t kLd = 64;
  auto buffer = DeviceBuffer::Allocate(kRows * kLd * sizeof(float));
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  ASSERT_TRUE(buffer->Poison().ok());
  const Matrix<float> matrix{buffer->As<float>(), kRows, kCols, kLd};
  ASSERT_TRUE(FillUniformOnDevice(matrix, 5, nullptr).ok());
  const std::vector<float> got = ToHost<float>(*buffer);
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kLd; ++c) {
      const float value = got[r * kLd + c];
      if (c < kCols) {
        ASSERT_EQ(value, UniformAt<float>(5, r * kCols + c)) << r << "," << c;
      } else {
        ASSERT_TRUE(std::isnan(value)) << r << "," << c;
      }
    }
  }
}

TEST_F(DeviceGpuTest, WidensWithAndWithoutSigns) {
  constexpr int64_t kRows = 9;
  constexpr int64_t kCols = 33;
  constexpr int64_t kLd = 40;
  auto in = DeviceBuffer::Allocate(kRows * kLd * sizeof(float));
  auto out = DeviceBuffer::Allocate(kRows * kCols * sizeof(double));
  ASSERT_TRUE(in.ok() && out.ok());
  const Matrix<float> matrix{in->As<float>(), kRows, kCols, kLd};
  ASSERT_TRUE(FillUniformOnDevice(matrix, 5, nullptr).ok());
  for (const bool absolute : {false, true}) {
    ASSERT_TRUE(
        WidenOnDevice(ConstMatrix<float>(matrix), absolute, out->As<double>(), nullptr).ok());
    const std::vector<double> got = ToHost<double>(*out);
    for (int64_t i = 0; i < kRows * kCols; ++i) {
      const double want = UniformAt<double>(5, i);
      ASSERT_EQ(got[i], absolute ? std::abs(want) : want) << i;
    }
  }
}

TEST_F(DeviceGpuTest, CopiesEveryByteAndNoOther) {
  for (const size_t bytes : {0, 1, 15, 16, 17, 4097, 1 << 20}) {
    auto from = DeviceBuffer::Allocate(bytes);
    auto to = DeviceBuffer::AllocateGuarded(bytes);
    ASSERT_TRUE(from.ok() && to.ok());
    std::vector<uint8_t> want(bytes);
    for (size_t i = 0; i < bytes; ++i) want[i] = static_cast<uint8_t>(Mix64(i));
    ASSERT_TRUE(gpu::Copy(from->data(), want.data(), bytes).ok());
    ASSERT_TRUE(to->Poison().ok());
    ASSERT_TRUE(CopyVectorised(to->data(), from->data(), bytes, nullptr).ok());
    ASSERT_TRUE(gpu::Synchronize(nullptr).ok());
    EXPECT_EQ(ToHost<uint8_t>(*to), want) << bytes;
    EXPECT_TRUE(to->CheckGuards().ok()) << bytes;
  }
}

TEST_F(DeviceGpuTest, GuardsSeeAByteOnEitherSide) {
  for (const int64_t offset : {int64_t{-1}, int64_t{-4096}, int64_t{100}, int64_t{4195}}) {
    auto buffer = DeviceBuffer::AllocateGuarded(100);
    ASSERT_TRUE(buffer.ok());
    EXPECT_TRUE(buffer->CheckGuards().ok());
    ASSERT_TRUE(gpu::FillBytes(buffer->As<uint8_t>() + offset, 0, 1, nullptr).ok());
    const absl::Status status = buffer->CheckGuards();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(std::string(status.message()).find(std::to_string(offset)), std::string::npos);
  }
}

TEST_F(DeviceGpuTest, PinnedMemoryCopies) {
  auto host = HostBuffer::Allocate(1000, HostMemory::kPinned);
  ASSERT_TRUE(host.ok()) << host.status();
  host->Poison();
  auto device = DeviceBuffer::Allocate(1000);
  ASSERT_TRUE(device.ok());
  ASSERT_TRUE(gpu::Copy(device->data(), host->data(), 1000).ok());
  EXPECT_EQ(ToHost<uint8_t>(*device), std::vector<uint8_t>(1000, 0xff));
}

TEST_F(DeviceGpuTest, OutOfMemoryLeavesTheDeviceUsable) {
  const size_t bytes = size_t{1} << 44;  // 16 TiB.
  const auto too_large = DeviceBuffer::Allocate(bytes);
  EXPECT_EQ(too_large.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(std::string(too_large.status().message()).find(std::to_string(bytes)),
            std::string::npos);
  auto buffer = DeviceBuffer::Allocate(4096);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_TRUE(buffer->Poison().ok());
}

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

// A subject that copies its input, or does so wrongly, 4096 bytes.
class MeasureOnDeviceTest : public DeviceGpuTest {
 protected:
  absl::StatusOr<DeviceMeasurement> Measure(
      const std::function<absl::Status(void* to, const void* from, cudaStream_t)>& work) {
    std::vector<uint8_t> in(4096);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(Mix64(i));
    std::vector<uint8_t> out(in.size());
    DeviceSubject subject;
    subject.inputs = {{in.data(), in.size()}};
    subject.host_output = out.data();
    subject.output_bytes = out.size();
    subject.run = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
      return work(output, inputs[0], stream);
    };
    subject.verify = [&] {
      return in == out ? absl::OkStatus() : absl::DataLossError("not the input");
    };
    auto timer = GpuTimer::Create(device_, /*cold_l2=*/true);
    if (!timer.ok()) return timer.status();
    SamplingOptions options;
    options.max_samples = 20;
    const auto nvml = Nvml::Open(device_.pci_bus_id);
    return MeasureOnDevice(subject, options, SteadyClock(), **timer, *nvml, nullptr);
  }
};

TEST_F(MeasureOnDeviceTest, HasEveryPhaseOnce) {
  const auto result = Measure([](void* to, const void* from, cudaStream_t stream) {
    return CopyVectorised(to, from, 4096, stream);
  });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->kernel.samples, 0);
  double sum = 0;
  for (const Phase phase :
       {Phase::kAlloc, Phase::kH2d, Phase::kFirstLaunch, Phase::kD2h, Phase::kFree}) {
    ASSERT_TRUE(result->phases.Ms(phase).has_value());
    sum += *result->phases.Ms(phase);
  }
  EXPECT_GT(sum, 0);
  EXPECT_EQ(result->kernels, std::vector<std::string>({"CopyVectorisedKernel"}));
  ASSERT_TRUE(result->phases.Ms(Phase::kTotal).has_value());
  EXPECT_GE(*result->phases.Ms(Phase::kTotal), *result->phases.Ms(Phase::kH2d));
}

TEST_F(MeasureOnDeviceTest, SeesAnElementThatWasNotWritten) {
  const auto result = Measure([](void* to, const void* from, cudaStream_t stream) {
    return CopyVectorised(to, from, 4095, stream);
  });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDataLoss);
}

// It writes outside only after the whole passes, whose plain allocations have no canaries.
TEST_F(MeasureOnDeviceTest, SeesAWriteOutside) {
  int runs = 0;
  const auto result = Measure([&](void* to, const void* from, cudaStream_t stream) {
    absl::Status status = CopyVectorised(to, from, 4096, stream);
    if (!status.ok() || ++runs <= 3) return status;
    return gpu::FillBytes(static_cast<uint8_t*>(to) + 4096, 1, 1, stream);
  });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDataLoss) << result.status();
}

// Its result is right at first and wrong while it is timed, which one check before timing would
// miss.
TEST_F(MeasureOnDeviceTest, SeesAResultThatGoesWrongWhileTimed) {
  int runs = 0;
  const auto lost = Measure([&](void* to, const void* from, cudaStream_t stream) {
    return ++runs > 8 ? gpu::FillBytes(to, 0, 16, stream) : CopyVectorised(to, from, 4096, stream);
  });
  EXPECT_EQ(lost.status().code(), absl::StatusCode::kDataLoss);
}

// Work in place that exchanges the two halves of its buffer, so that every second run would restore
// the input. All results are the same only if the input is copied back before each run.
TEST_F(DeviceGpuTest, MeasuresWorkInPlaceOnAPreparedBuffer) {
  constexpr size_t kBytes = 4096;
  constexpr size_t kHalf = kBytes / 2;
  std::vector<uint8_t> in(kBytes);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(Mix64(i));
  std::vector<uint8_t> want = in;
  std::rotate(want.begin(), want.begin() + kHalf, want.end());
  std::vector<uint8_t> out(kBytes);
  auto half = DeviceBuffer::Allocate(kHalf);
  ASSERT_TRUE(half.ok()) << half.status();
  std::string order;
  DeviceSubject subject;
  subject.inputs = {{in.data(), in.size()}};
  subject.host_output = out.data();
  subject.output_bytes = out.size();
  subject.prepare = [&](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
    order += "p";
    return gpu::CopyOnDevice(output, inputs[0], kBytes, stream);
  };
  subject.run = [&](absl::Span<void* const>, void* output, cudaStream_t stream) -> absl::Status {
    order += "r";
    auto* data = static_cast<uint8_t*>(output);
    RETURN_IF_ERROR(gpu::CopyOnDevice(half->data(), data, kHalf, stream));
    RETURN_IF_ERROR(gpu::CopyOnDevice(data, data + kHalf, kHalf, stream));
    return gpu::CopyOnDevice(data + kHalf, half->data(), kHalf, stream);
  };
  int judged = 0;
  subject.verify = [&] {
    ++judged;
    return out == want ? absl::OkStatus() : absl::DataLossError("not exchanged once");
  };
  auto timer = GpuTimer::Create(device_, /*cold_l2=*/true);
  ASSERT_TRUE(timer.ok()) << timer.status();
  for (const int samples : {6, 7}) {  // An even and an odd number of runs.
    order.clear();
    SamplingOptions options;
    options.min_samples = samples;
    options.max_samples = samples;
    options.max_seconds = 60;  // A checker makes a sample take half a second.
    const auto nvml = Nvml::Open(device_.pci_bus_id);
    const auto result = MeasureOnDevice(subject, options, SteadyClock(), **timer, *nvml, nullptr);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->kernel.samples, samples);
    EXPECT_TRUE(result->kernels.empty());  // Copies only.
    ASSERT_EQ(order.back(), 'r');          // Captured for the names, and not executed.
    order.pop_back();
    EXPECT_GT(order.size(), 2u * static_cast<size_t>(samples));
    for (size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(order[i], i % 2 == 0 ? 'p' : 'r') << order;
    }
  }
  EXPECT_GE(judged, 2);
}

}  // namespace
}  // namespace stridewise
