// Rows of --gpus as tests measure them: on devices of the host, with NCCL and cuBLASMp of tests.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_SWEEPS_FIXTURE_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_SWEEPS_FIXTURE_H_

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/distributed/grid_sweeps.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/row_columns.h"
#include "common/measure/result_row.h"
#include "gtest/gtest.h"

namespace stridewise {

// The flags of a plan.
struct Asked {
  std::string gpus = "2x2";
  std::string shapes{};
  std::string block = "5";
  std::string types{};
  std::string implementations{};
};

inline std::vector<Config> PlanOf(const GridSweep& sweep, const Asked& asked) {
  PlanFlags flags;
  flags.shapes = asked.shapes;
  flags.types = asked.types;
  flags.implementations = asked.implementations;
  flags.axes = {{"gpus", asked.gpus}, {"grid_block", asked.block}};
  auto plan = MakePlan(sweep.operation(), *FindPreset(sweep.operation(), kGridPreset), flags);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : std::vector<Config>();
}

inline ResultRow MeasureRow(const GridSweep& sweep, const Config& config, bool with_peer = true,
                            VerifyMode verify = VerifyMode::kFull) {
  SweepOptions options;
  options.verify = verify;
  options.seed = 7;
  options.sampling.max_seconds = 0.001;
  options.sampling.max_warmup_seconds = 0.0001;
  static const auto& machine = *new auto(Machine::Open(SweepOptions()));
  ResultRow row;
  SetProblemColumns(*config.operation, config.point, &row);
  row.Set(Column::kImplementation, config.implementation->name);
  SetOutcome(
      sweep.Measure(config, options, with_peer ? sweep.operation().FindPeer("cublasmp") : nullptr,
                    **machine, &row),
      &row);
  return row;
}

inline double Number(const ResultRow& row, Column column) {
  double value = NAN;
  return absl::SimpleAtod(row.Get(column), &value) ? value : NAN;
}

class GridSweepsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("STRIDEWISE_NCCL", "common/distributed/libfake_nccl.so", 1);
    setenv("STRIDEWISE_CUBLASMP", "common/distributed/libfake_nccl.so", 1);
  }
};

inline void ExpectOk(const ResultRow& row) {
  const std::string name = absl::StrCat(row.Get(Column::kImplementation), " ",
                                        row.Get(Column::kRows), "x", row.Get(Column::kCols), "x",
                                        row.Get(Column::kDepth), " ", row.Get(Column::kGrid));
  EXPECT_EQ(row.Get(Column::kStatus), "ok") << name << ": " << row.Get(Column::kMessage);
  EXPECT_GT(Number(row, Column::kKernelMsMedian), 0) << name;
  EXPECT_GE(Number(row, Column::kSamples), 1) << name;
  EXPECT_GE(Number(row, Column::kGbps), 0) << name;
}

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_SWEEPS_FIXTURE_H_
