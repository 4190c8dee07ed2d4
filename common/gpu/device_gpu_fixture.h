// The fixture of tests on a GPU: its description, and bytes back from it.

#ifndef STRIDEWISE_COMMON_GPU_DEVICE_GPU_FIXTURE_H_
#define STRIDEWISE_COMMON_GPU_DEVICE_GPU_FIXTURE_H_

#include <vector>

#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"

namespace stridewise {

// Skips its tests where there is no GPU.
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

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_DEVICE_GPU_FIXTURE_H_
