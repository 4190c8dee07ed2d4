// What a row of --gpus says when a rank is wrong, fails, or is not there.

#include <string>

#include "absl/status/status.h"
#include "benchmarks/distributed/fake_grid_devices.h"
#include "benchmarks/distributed/grid_measurement.h"
#include "benchmarks/distributed/grid_problem.h"
#include "benchmarks/distributed/grid_sweeps_fixture.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

using GridSweepFailuresTest = GridSweepsTest;

TEST_F(GridSweepFailuresTest, AWrongPartOfAnyRankIsAMismatch) {
  for (int device = 0; device < 4; ++device) {
    const GridSweep sweep(GridSweep::Of::kProducts, HostDevices(4, {device, Fault::kWrongProduct}));
    const auto plan = PlanOf(sweep, {"2x2", "23x19x17", "4", "", "summa"});
    ASSERT_EQ(plan.size(), 1);
    EXPECT_EQ(MeasureRow(sweep, plan[0]).Get(Column::kStatus), "mismatch") << device;
    EXPECT_EQ(MeasureRow(sweep, plan[0], true, VerifyMode::kOff).Get(Column::kStatus), "ok");
  }
}

TEST_F(GridSweepFailuresTest, ARankWithoutMemoryOrThatFailsEndsTheRow) {
  for (int device = 0; device < 4; ++device) {
    for (const auto of : {GridSweep::Of::kProducts, GridSweep::Of::kTransposes}) {
      const std::string shape = of == GridSweep::Of::kProducts ? "64x64x64" : "64x64";
      const GridSweep small(of, HostDevices(4, {device, Fault::kNoMemory}));
      for (const Config& config : PlanOf(small, {"2x2", shape, "8"})) {
        EXPECT_EQ(MeasureRow(small, config).Get(Column::kStatus), "out_of_memory") << device;
      }
      const GridSweep failing(of, HostDevices(4, {device, Fault::kFails}));
      for (const Config& config : PlanOf(failing, {"2x2", shape, "8"})) {
        const ResultRow row = MeasureRow(failing, config);
        EXPECT_EQ(row.Get(Column::kStatus), "error") << device;
        EXPECT_NE(row.Get(Column::kMessage).find("rank"), std::string::npos);
      }
    }
  }
}

// A rank that waited for another would do so for longer than the test may take.
TEST_F(GridSweepFailuresTest, AnInterruptEndsAllRanks) {
  for (const bool beside_cublasmp : {false, true}) {
    int asked = 0;
    GridSubject subject;
    subject.grid = {1, 2};
    subject.make_problem = [&](int rank) {
      return MakeGridProduct({16, 16, 16}, "float", 4, subject.grid, rank);
    };
    subject.beside_cublasmp = beside_cublasmp;
    subject.seconds = 3600;
    subject.interrupted = [&] { return ++asked > 2; };
    const absl::Status status = MeasureOnGrid(subject, HostDevices(2)).status();
    EXPECT_TRUE(absl::IsCancelled(status)) << status;
  }
}

TEST_F(GridSweepFailuresTest, DirectRowsOfGpusThatDoNotReachEachOtherAreErrors) {
  const GridSweep sweep(GridSweep::Of::kProducts, HostDevices(2, {1, Fault::kReachesNothing}));
  for (const Config& config : PlanOf(sweep, {"1x2", "8x8x8", "4", "", "summa,summa_direct"})) {
    const ResultRow row = MeasureRow(sweep, config);
    const bool is_direct = config.implementation->name == "summa_direct";
    EXPECT_EQ(row.Get(Column::kStatus), is_direct ? "error" : "ok");
    EXPECT_EQ(row.Get(Column::kMessage).find("rank 1 does not reach") != std::string::npos,
              is_direct);
  }
}

TEST_F(GridSweepFailuresTest, AGridThatIsLargerThanTheMachineIsSkipped) {
  const GridSweep sweep(GridSweep::Of::kProducts, HostDevices(3));
  for (const Config& config : PlanOf(sweep, {"2x2", "8x8x8"})) {
    const ResultRow row = MeasureRow(sweep, config);
    EXPECT_EQ(row.Get(Column::kStatus), "skipped");
    EXPECT_EQ(row.Get(Column::kMessage), "there are 3");
    EXPECT_EQ(row.Get(Column::kRanks), "4");
  }
}

}  // namespace
}  // namespace stridewise
