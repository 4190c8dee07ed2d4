#include <cublas_v2.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/cublas_status.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/launched_kernels.h"
#include "common/gpu/stream_gpu_fixture.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr int kSize = 256;
constexpr size_t kBytes = kSize * kSize * sizeof(float);

class LaunchedKernelsGpuTest : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    buffer_ = DeviceBuffer::Allocate(kBytes).value();
    ASSERT_TRUE(gpu::FillBytes(buffer_.data(), 0, kBytes, stream_).ok());
  }

  DeviceBuffer buffer_;
};

TEST_F(LaunchedKernelsGpuTest, NamesEachLaunchInOrderAndExecutesNothing) {
  const auto names = LaunchedKernels(
      [&](cudaStream_t stream) -> absl::Status {
        RETURN_IF_ERROR(LaunchEmptyKernel(stream));
        RETURN_IF_ERROR(gpu::FillBytes(buffer_.data(), 1, kBytes, stream));
        RETURN_IF_ERROR(FillUniformOnDevice(Matrix<float>{buffer_.As<float>(), kSize, kSize, kSize},
                                            1, stream));
        return LaunchEmptyKernel(stream);
      },
      stream_);
  ASSERT_TRUE(names.ok()) << names.status();
  ASSERT_EQ(names->size(), 3u);
  EXPECT_EQ(names->at(0), names->at(2));
  EXPECT_NE(names->at(0), names->at(1));
  EXPECT_TRUE(absl::StartsWith(names->at(0), "Empty")) << names->at(0);
  EXPECT_TRUE(absl::StrContains(names->at(1), "<float>")) << names->at(1);

  std::vector<float> host(kSize * kSize, 1);
  ASSERT_TRUE(gpu::Synchronize(stream_).ok());
  ASSERT_TRUE(gpu::Copy(host.data(), buffer_.data(), kBytes).ok());
  EXPECT_EQ(host, std::vector<float>(kSize * kSize, 0));
}

TEST_F(LaunchedKernelsGpuTest, NamesWhatALibraryLaunches) {
  auto handle = CublasHandle::Create();
  ASSERT_TRUE(handle.ok()) << handle.status();
  const auto names = LaunchedKernels(
      [&](cudaStream_t stream) -> absl::Status {
        const float alpha = 1;
        const float beta = 0;
        auto* data = buffer_.As<float>();
        RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(handle->get(), stream)));
        return CUBLAS_STATUS(cublasSgemm(handle->get(), CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize,
                                         kSize, &alpha, data, kSize, data, kSize, &beta, data,
                                         kSize));
      },
      stream_);
  ASSERT_TRUE(names.ok()) << names.status();
  ASSERT_FALSE(names->empty());
  for (const std::string& name : *names) EXPECT_FALSE(name.empty());
  // Before the handle goes, let it forget the stream.
  EXPECT_EQ(cublasSetStream(handle->get(), nullptr), CUBLAS_STATUS_SUCCESS);
}

TEST_F(LaunchedKernelsGpuTest, WorkThatCannotBeCapturedIsAnErrorAndNoMore) {
  const auto waits = [](cudaStream_t stream) { return gpu::Synchronize(stream); };
  EXPECT_FALSE(LaunchedKernels(waits, stream_).ok());
  const auto fails = [](cudaStream_t) { return absl::InvalidArgumentError("no"); };
  EXPECT_EQ(LaunchedKernels(fails, stream_).status().code(), absl::StatusCode::kInvalidArgument);
  // The stream works as before.
  EXPECT_TRUE(LaunchEmptyKernel(stream_).ok());
  EXPECT_TRUE(gpu::Synchronize(stream_).ok());
  const auto names = LaunchedKernels(LaunchEmptyKernel, stream_);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(names->size(), 1u);
}

}  // namespace
}  // namespace stridewise
