// What tests of calls on a GPU's stream have in common.

#ifndef STRIDEWISE_COMMON_GPU_STREAM_GPU_FIXTURE_H_
#define STRIDEWISE_COMMON_GPU_STREAM_GPU_FIXTURE_H_

#include <cuda_runtime_api.h>

#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"

namespace stridewise {

// A stream of GPU 0, which the fixture owns. Tests are skipped where there is no GPU: a SetUp()
// of a derived fixture returns if IsSkipped() after this one.
class StreamTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
    const auto stream = gpu::CreateStream();
    ASSERT_TRUE(stream.ok()) << stream.status();
    stream_ = *stream;
  }
  void TearDown() override {
    if (stream_ == nullptr) return;
    EXPECT_TRUE(gpu::DestroyStream(stream_).ok());
  }

  cudaStream_t stream_ = nullptr;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_STREAM_GPU_FIXTURE_H_
