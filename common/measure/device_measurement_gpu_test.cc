// Whole measurements on a GPU: phases, and results that are wrong at some time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device_gpu_fixture.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/device_measurement.h"
#include "common/measure/gpu_timer.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

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
TEST_F(MeasureOnDeviceTest, MeasuresWorkInPlaceOnAPreparedBuffer) {
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
