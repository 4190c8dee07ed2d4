// The rows of --gpus on devices of the host, with NCCL and cuBLASMp of tests.

#include "benchmarks/distributed/grid_sweeps.h"

#include <atomic>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "benchmarks/distributed/fake_grid_devices.h"
#include "benchmarks/distributed/grid_sweeps_fixture.h"
#include "benchmarks/harness/plan.h"
#include "common/base/status_macros.h"
#include "gtest/gtest.h"
#include "matmul/matmul.h"

namespace stridewise {
namespace {

TEST_F(GridSweepsTest, ProductsAreRightOnEveryGrid) {
  const GridSweep sweep(GridSweep::Of::kProducts, HostDevices(6));
  const auto plan =
      PlanOf(sweep, {"1x1,1x2,2x1,2x2,2x3", "1x1x1,7x1x3,1x9x4,16x15x17,31x23x29", "5,8"});
  ASSERT_EQ(plan.size(), 5 * 5 * 2 * 3);
  for (const Config& config : plan) ExpectOk(MeasureRow(sweep, config));
}

// Products of floats may be split for tensor cores. What has more error than FP32 is not taken.
TEST_F(GridSweepsTest, LocalProductsHaveThePrecisionThatIsAskedFor) {
  const Axis axis = {"precision", Column::kPrecision, "fp32",
                     [](absl::string_view, absl::string_view text) {
                       return absl::StatusOr<std::vector<std::string>>(absl::StrSplit(text, ','));
                     },
                     [] { return std::string(); }};
  std::atomic<int> split = 0, others = 0;
  GridDevices devices = HostDevices(2);
  devices.open = [&, open = devices.open](int number) -> absl::StatusOr<GridDevice> {
    ASSIGN_OR_RETURN(GridDevice device, open(number));
    device.multiply = [&, multiply = device.multiply](MatMulProblem problem, cudaStream_t stream) {
      ++(problem.precision == MatMulPrecision::kFp32Split ? split : others);
      problem.precision = MatMulPrecision::kFp32;
      return multiply(problem, stream);
    };
    return device;
  };
  const GridSweep sweep(GridSweep::Of::kProducts, devices, &axis);
  PlanFlags flags;
  flags.shapes = "31x23x29";
  flags.implementations = "summa_direct";
  flags.axes = {{"gpus", "1x2"}, {"grid_block", "5"}, {"precision", "fp32_split,tf32"}};
  const auto plan = MakePlan(sweep.operation(), *FindPreset(sweep.operation(), kGridPreset), flags);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->size(), 1);
  const ResultRow row = MeasureRow(sweep, plan->front());
  ExpectOk(row);
  EXPECT_EQ(row.Get(Column::kPrecision), "fp32_split");
  EXPECT_GT(Number(row, Column::kVsCublas), 0);
  EXPECT_GT(split, 0);
  EXPECT_EQ(others, 0);
}

// The cuBLASMp of tests refuses operands of Bf16.
TEST_F(GridSweepsTest, WhatCublasMpRefusesIsMeasuredWithoutIt) {
  const GridSweep sweep(GridSweep::Of::kProducts, HostDevices(2));
  for (const Config& config : PlanOf(sweep, {"1x2,2x1", "31x23x29", "5", "bf16_float"})) {
    const ResultRow row = MeasureRow(sweep, config);
    if (config.implementation->name == "cublasmp") {
      EXPECT_EQ(row.Get(Column::kStatus), "error");
      EXPECT_NE(row.Get(Column::kMessage).find("cublasMpGemm_bufferSize"), std::string::npos);
    } else {
      ExpectOk(row);
      EXPECT_EQ(row.Get(Column::kVsCublas), "");
    }
  }
}

TEST_F(GridSweepsTest, TransposesAreRightOnEveryGrid) {
  const GridSweep sweep(GridSweep::Of::kTransposes, HostDevices(6));
  const auto plan =
      PlanOf(sweep, {"1x1,1x2,2x1,2x2,2x3", "1x1,7x1,1x9,16x15,31x23", "5,8", "float,double"});
  ASSERT_EQ(plan.size(), 5 * 5 * 2 * 2 * 4);
  for (const Config& config : plan) ExpectOk(MeasureRow(sweep, config));
}

TEST_F(GridSweepsTest, ColumnsSayWhatWasMeasured) {
  const GridSweep sweep(GridSweep::Of::kProducts, HostDevices(4));
  for (const Config& config : PlanOf(sweep, {"1x1,2x2", "40x40x40", "8"})) {
    const ResultRow row = MeasureRow(sweep, config);
    ExpectOk(row);
    const bool one = row.Get(Column::kGrid) == "1x1";
    const bool own = config.implementation->name != "cublasmp";
    EXPECT_EQ(row.Get(Column::kRanks), one ? "1" : "4");
    EXPECT_EQ(row.Get(Column::kGridBlock), "8");
    // All wait for the device with the lowest clock.
    EXPECT_EQ(row.Get(Column::kSmClockMhz), one ? "1900" : "1400");
    EXPECT_EQ(row.Get(Column::kPowerW), one ? "100" : "102");
    EXPECT_EQ(row.Get(Column::kThrottleReason), one ? "none" : "sw_power_cap");
    EXPECT_EQ(row.Get(Column::kL2), "");
    EXPECT_EQ(row.Get(Column::kHostMemory), "");
    EXPECT_NEAR(Number(row, Column::kGflops),
                2 * 40.0 * 40 * 40 / Number(row, Column::kKernelMsMedian) / 1e6, 1e-6);
    EXPECT_EQ(row.Get(Column::kCommunicationMs).empty(), one || !own);
    EXPECT_EQ(row.Get(Column::kOverlapPct).empty(), one || !own);
    if (!one && own) {
      EXPECT_GT(Number(row, Column::kCommunicationMs), 0);
      EXPECT_GE(Number(row, Column::kOverlapPct), 0);
      EXPECT_LE(Number(row, Column::kOverlapPct), 100);
    }
    EXPECT_EQ(row.Get(Column::kVsCublas).empty(), !own);
    EXPECT_EQ(MeasureRow(sweep, config, /*with_peer=*/false).Get(Column::kVsCublas), "");
  }
}

TEST_F(GridSweepsTest, WhatATransposeSendsByKernelsHasNoTimeOfItsOwn) {
  const GridSweep sweep(GridSweep::Of::kTransposes, HostDevices(4));
  for (const Config& config : PlanOf(sweep, {"2x2", "40x40", "8"})) {
    const ResultRow row = MeasureRow(sweep, config);
    ExpectOk(row);
    const bool by_messages = config.implementation->name == "exchange";
    EXPECT_EQ(row.Get(Column::kCommunicationMs).empty(), !by_messages)
        << config.implementation->name;
  }
}

TEST_F(GridSweepsTest, PlansRefuseWhatIsNoGridOrBlock) {
  const GridSweep sweep(GridSweep::Of::kTransposes, HostDevices(1));
  const Preset preset = *FindPreset(sweep.operation(), kGridPreset);
  for (const char* gpus : {"", "2", "2x", "0x2", "2x2x2", "-1x2", "65x1", "2x2,,1x1"}) {
    PlanFlags flags;
    flags.axes = {{"gpus", gpus}, {"grid_block", ""}};
    EXPECT_TRUE(absl::IsInvalidArgument(MakePlan(sweep.operation(), preset, flags).status()))
        << gpus;
  }
  for (const char* block : {"0", "-4", "2x2", "many", "4,,5"}) {
    PlanFlags flags;
    flags.axes = {{"gpus", "1x1"}, {"grid_block", block}};
    EXPECT_TRUE(absl::IsInvalidArgument(MakePlan(sweep.operation(), preset, flags).status()))
        << block;
  }
  PlanFlags batch;
  batch.axes = {{"gpus", "1x1"}, {"grid_block", ""}};
  batch.shapes = "8x8";
  EXPECT_TRUE(MakePlan(sweep.operation(), preset, batch).ok());
  batch.batch = "2";
  EXPECT_TRUE(absl::IsInvalidArgument(MakePlan(sweep.operation(), preset, batch).status()));
}

}  // namespace
}  // namespace stridewise
