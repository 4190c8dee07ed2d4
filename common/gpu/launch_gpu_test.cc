#include <algorithm>
#include <vector>

#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/launch_test_kernels.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

class LaunchGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
    device_ = *device;
    auto out = DeviceBuffer::Allocate(sizeof(int32_t));
    ASSERT_TRUE(out.ok());
    out_ = *std::move(out);
  }

  int32_t Out() {
    int32_t value = 0;
    EXPECT_TRUE(gpu::Copy(&value, out_.data(), sizeof(value)).ok());
    return value;
  }

  DeviceInfo device_;
  DeviceBuffer out_;
};

TEST_F(LaunchGpuTest, RowsBeyondTheLimitOfYContinueInZ) {
  for (const int64_t rows : {int64_t{1}, int64_t{65535}, int64_t{65536}, int64_t{200001}}) {
    auto counts = DeviceBuffer::Allocate(rows * sizeof(int32_t));
    ASSERT_TRUE(counts.ok());
    ASSERT_TRUE(gpu::FillBytes(counts->data(), 0, counts->bytes(), nullptr).ok());
    ASSERT_TRUE(CountRows(counts->As<int32_t>(), rows, nullptr).ok());
    std::vector<int32_t> got(rows);
    ASSERT_TRUE(gpu::Copy(got.data(), counts->data(), counts->bytes()).ok());
    EXPECT_EQ(std::count(got.begin(), got.end(), 1), rows);
  }
}

TEST_F(LaunchGpuTest, GivesAllTheSharedMemoryThatTheDeviceHas) {
  const auto shared_bytes = static_cast<size_t>(device_.max_shared_bytes_per_block);
  EXPECT_GT(shared_bytes, size_t{48} * 1024);
  ASSERT_TRUE(
      WriteThroughShared(out_.As<int32_t>(), 42, Grid{}, Block{}, shared_bytes, nullptr).ok());
  EXPECT_EQ(Out(), 42);
}

// 48 KB are of static and dynamic shared memory together.
TEST_F(LaunchGpuTest, CountsStaticSharedMemory) {
  constexpr size_t kWithoutAsking = kSharedBytesWithoutAsking - kStaticSharedBytes;
  int32_t value = 0;
  for (const size_t shared_bytes : {kWithoutAsking, kWithoutAsking + 4, kSharedBytesWithoutAsking,
                                    kSharedBytesWithoutAsking + 4}) {
    const absl::Status status =
        WriteThroughBoth(out_.As<int32_t>(), ++value, shared_bytes, nullptr);
    ASSERT_TRUE(status.ok()) << shared_bytes << " bytes: " << status;
    EXPECT_EQ(Out(), value);
  }
}

// The limit is raised once, and again where it is not what it was.
TEST_F(LaunchGpuTest, RaisesALimitThatWasLost) {
  const auto most = static_cast<size_t>(device_.max_shared_bytes_per_block);
  int32_t value = 0;
  for (const size_t shared_bytes : {size_t{64} << 10, most, size_t{64} << 10, most}) {
    for (const bool lost : {false, true}) {
      if (lost) {
        ASSERT_TRUE(LoseSharedLimit().ok());
      }
      const absl::Status status =
          WriteThroughShared(out_.As<int32_t>(), ++value, Grid{}, Block{}, shared_bytes, nullptr);
      ASSERT_TRUE(status.ok()) << shared_bytes << " bytes: " << status;
      EXPECT_EQ(Out(), value);
    }
  }
}

TEST_F(LaunchGpuTest, RefusesWhatCudaWouldAndStaysUsable) {
  struct {
    Grid grid;
    Block block;
    size_t shared_bytes;
  } cases[] = {
      {{int64_t{1} << 40}, {1}, 4},
      {{1, 65536}, {1}, 4},
      {{1}, {2048}, 4},
      {{1}, {32}, size_t{1} << 30},
  };
  for (const auto& c : cases) {
    const absl::Status status =
        WriteThroughShared(out_.As<int32_t>(), 1, c.grid, c.block, c.shared_bytes, nullptr);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(std::string(status.message()).find("WriteThroughShared"), std::string::npos)
        << status;
  }
  ASSERT_TRUE(WriteThroughShared(out_.As<int32_t>(), 7, Grid{}, Block{}, 4, nullptr).ok());
  EXPECT_EQ(Out(), 7);
}

TEST_F(LaunchGpuTest, AnEmptyGridDoesNothing) {
  ASSERT_TRUE(gpu::FillBytes(out_.data(), 0, sizeof(int32_t), nullptr).ok());
  ASSERT_TRUE(WriteThroughShared(out_.As<int32_t>(), 1, Grid{0, 5}, Block{}, 4, nullptr).ok());
  EXPECT_EQ(Out(), 0);
}

// Each round finds what the one before left, which is wrong for it, in `between` and `out`.
TEST_F(LaunchGpuTest, ADependentKernelReadsWhatTheOneBeforeItWrote) {
  constexpr int64_t kCount = 100000;
  auto buffers = DeviceBuffer::Allocate(3 * kCount * sizeof(int32_t));
  ASSERT_TRUE(buffers.ok());
  auto* const values = buffers->As<int32_t>();
  int32_t* const between = values + kCount;
  int32_t* const out = between + kCount;
  std::vector<int32_t> want(kCount);
  std::vector<int32_t> got(kCount);
  for (int32_t round = 0; round < 5; ++round) {
    for (int64_t i = 0; i < kCount; ++i) got[i] = static_cast<int32_t>(i) * 7 + round;
    for (int64_t i = 0; i < kCount; ++i) want[i] = 2 * got[i] + 1;
    ASSERT_TRUE(gpu::Copy(values, got.data(), kCount * sizeof(int32_t)).ok());
    ASSERT_TRUE(DoubleAndAddOne(values, kCount, between, out, nullptr).ok());
    ASSERT_TRUE(gpu::Copy(got.data(), out, kCount * sizeof(int32_t)).ok());
    EXPECT_EQ(got, want) << "round " << round;
  }
}

}  // namespace
}  // namespace stridewise
