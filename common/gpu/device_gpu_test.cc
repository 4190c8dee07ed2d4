// Tests on a GPU: its description, buffers, fills and copies.

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/device_gpu_fixture.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

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
  // Memory of the driver's, and large pages with and without a part of one at the end.
  for (const size_t bytes : {size_t{1000}, size_t{64} << 20, (size_t{100} << 20) + 1}) {
    auto host = HostBuffer::Allocate(bytes, HostMemory::kPinned);
    ASSERT_TRUE(host.ok()) << host.status();
    host->Poison();
    auto device = DeviceBuffer::Allocate(bytes);
    ASSERT_TRUE(device.ok());
    ASSERT_TRUE(gpu::Copy(device->data(), host->data(), bytes).ok());
    EXPECT_EQ(ToHost<uint8_t>(*device), std::vector<uint8_t>(bytes, 0xff));
    cudaPointerAttributes attributes;
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, host->As<char>() + bytes - 1), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  }
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

}  // namespace
}  // namespace stridewise
