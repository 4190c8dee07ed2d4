#include "common/gpu/device.h"

#include "common/gpu/device_model.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// An H200 as its attributes describe it: 132 multiprocessors at 1980 MHz, 6144 bits at 3201 MHz.
DeviceInfo H200() {
  DeviceInfo device;
  device.compute_major = 9;
  device.compute_minor = 0;
  device.multiprocessors = 132;
  device.sm_clock_khz = 1980000;
  device.memory_clock_khz = 3201000;
  device.memory_bus_bits = 6144;
  return device;
}

TEST(Device, PeaksFollowFromAttributes) {
  EXPECT_NEAR(PeakFp32Gflops(H200()), 66908, 1);
  EXPECT_NEAR(PeakBandwidthGbps(H200()), H200Model().memory_gbps, 1);
  EXPECT_NEAR(PeakTensor16BitGflops(H200()), 1070530, 10);
}

TEST(Device, UnknownAttributesGiveNoPeak) {
  DeviceInfo device = H200();
  device.compute_major = 99;
  EXPECT_EQ(PeakFp32Gflops(device), 0);
  device.memory_bus_bits = 0;
  EXPECT_EQ(PeakBandwidthGbps(device), 0);
}

// An H100 differs in its memory alone, and so in what a further part of k costs.
TEST(Device, ModelHasTheRateOfTheMemory) {
  DeviceInfo device = H200();
  EXPECT_NEAR(ModelOf(device).memory_gbps, H200Model().memory_gbps, 1);
  device.memory_clock_khz = 2619000;
  device.memory_bus_bits = 5120;
  device.max_shared_bytes_per_block = 99 << 10;
  const DeviceModel model = ModelOf(device);
  EXPECT_EQ(model.memory_gbps, 3352);
  EXPECT_EQ(model.compute_capability, 90);
  EXPECT_EQ(model.multiprocessors, 132);
  EXPECT_EQ(model.max_shared_bytes, 99 << 10);
  EXPECT_LT(model.k_part_cost_bytes, H200Model().k_part_cost_bytes);
  EXPECT_EQ(ModelOf(DeviceInfo()).memory_gbps, H200Model().memory_gbps);
}

TEST(Device, VersionText) {
  EXPECT_EQ(CudaVersionText(13000), "13.0");
  EXPECT_EQ(CudaVersionText(12090), "12.9");
}

TEST(Device, NoSuchDevice) {
  const absl::StatusCode expected =
      gpu::DeviceCount().ok() ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kUnavailable;
  EXPECT_EQ(OpenDevice(-1).status().code(), expected);
  EXPECT_EQ(OpenDevice(1000).status().code(), expected);
}

}  // namespace
}  // namespace stridewise
