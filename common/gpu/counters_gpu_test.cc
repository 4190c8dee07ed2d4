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

// Skips the test, saying why, where counters cannot be read.
#define OPEN_OR_SKIP(source, names)                                                     \
  if (const auto device = OpenDevice(0); !device.ok()) GTEST_SKIP() << device.status(); \
  auto source##_or = OpenCounters(names, 0);                                            \
  if (absl::IsUnavailable(source##_or.status())) GTEST_SKIP() << source##_or.status();  \
  ASSERT_TRUE(source##_or.ok()) << source##_or.status();                                \
  CounterSource& source = **source##_or

TEST(CountersGpuTest, CountsTheSameInEveryReading) {
  // Of several units of the GPU, so that one pass does not do.
  const std::vector<std::string> names = {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                          "smsp__inst_executed.sum", "dram__bytes_read.sum",
                                          "lts__t_sectors_op_write.sum",
                                          "sm__warps_active.avg.pct_of_peak_sustained_active"};
  OPEN_OR_SKIP(source, names);
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

TEST(CountersGpuTest, AnUnknownNameIsRefusedByName) {
  const std::vector<std::string> known = {"smsp__inst_executed.sum"};
  OPEN_OR_SKIP(source, known);
  source_or->reset();  // One profiler at a time.
  const std::vector<std::string> names = {"smsp__inst_executed.sum", "no_such_counter.sum"};
  const absl::Status status = OpenCounters(names, 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(status.message().find("no_such_counter.sum"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace stridewise
