#include <iostream>
#include <string>
#include <vector>

#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/counters.h"
#include "common/gpu/device.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr int kSize = 256;
constexpr size_t kBytes = kSize * kSize * sizeof(float);

// Where counters cannot be read (under compute-sanitizer, in a container without the permission),
// one line says why, and there is nothing to test.
bool IsExplained(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) return false;
  EXPECT_EQ(status.message().find('\n'), absl::string_view::npos) << status;
  std::cout << "Counters cannot be read: " << status.message() << std::endl;
  return true;
}

class CountersGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
  }
};

TEST_F(CountersGpuTest, CountsTheSameInEveryReading) {
  // Of several units of the GPU, so that one pass does not do.
  const std::vector<std::string> names = {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                          "smsp__inst_executed.sum", "dram__bytes_read.sum",
                                          "lts__t_sectors_op_write.sum",
                                          "sm__warps_active.avg.pct_of_peak_sustained_active"};
  const auto opened = OpenCounters(names, 0);
  if (IsExplained(opened.status())) return;
  ASSERT_TRUE(opened.ok()) << opened.status();
  CounterSource& source = **opened;
  const DeviceBuffer buffer = DeviceBuffer::Allocate(kBytes).value();
  int runs = 0;
  const CountedWork work = {
      [] { return absl::OkStatus(); },
      [&]() -> absl::Status {
        ++runs;
        RETURN_IF_ERROR(FillUniformOnDevice(Matrix<float>{buffer.As<float>(), kSize, kSize, kSize},
                                            1, nullptr));
        return gpu::Synchronize(nullptr);
      }};
  const auto first = ReadCounters(source, work);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->size(), names.size());
  EXPECT_EQ((*first)[0], kBytes / 32);  // Whole sectors, each stored once.
  EXPECT_GE((*first)[1], kSize * kSize / 32);
  EXPECT_GT(runs, 0);
  const auto second = ReadCounters(source, work);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)[0], (*first)[0]);
  EXPECT_EQ((*second)[1], (*first)[1]);
}

TEST_F(CountersGpuTest, AnUnknownNameIsRefusedByName) {
  const std::vector<std::string> names = {"smsp__inst_executed.sum", "no_such_counter.sum"};
  const absl::Status status = OpenCounters(names, 0).status();
  if (IsExplained(status)) return;
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(status.message().find("no_such_counter.sum"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace stridewise
