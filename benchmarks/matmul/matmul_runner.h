// Measures one implementation of matmul at one shape and writes what it found into a row.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_RUNNER_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_RUNNER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/host_rows.h"
#include "benchmarks/harness/init_times.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/matmul/matmul_plan.h"
#include "benchmarks/matmul/matmul_workload.h"
#include "common/base/clock.h"
#include "common/measure/result_row.h"
#include "common/measure/statistics.h"

namespace stridewise {

// What a row tells beside its own time.
struct MatMulRowOptions {
  bool cross_check = false;       // Compare with the results of the problem's earlier rows.
  bool pair_with_cublas = false;  // vs_cublas, of device rows: sampled in turn with cuBLAS.
};

class MatMulRunner {
 public:
  // Both arguments are borrowed.
  MatMulRunner(const SweepOptions* options, const Machine* machine);

  // The row of a configuration before it is measured: what RowKey() needs.
  ResultRow DescribeConfig(const MatMulConfig& config) const;

  // Measures and sets all other columns and the status. Leaves the status empty when the sweep was
  // interrupted before the row was finished. Configurations of one shape, form and type in a row
  // share their inputs and reference.
  void Measure(const MatMulConfig& config, const MatMulRowOptions& wanted, ResultRow* row);

 private:
  absl::Status MeasureOk(const MatMulConfig& config, const MatMulRowOptions& wanted,
                         ResultRow* row);
  absl::Status MeasureHost(const MatMulConfig& config, ResultRow* row);
  absl::Status MeasureDevice(const MatMulConfig& config, bool pair_with_cublas, ResultRow* row);
  absl::Status EnsureProblem(const MatMulConfig& config);
  absl::StatusOr<double> InitMs(const MatMulImplementation& implementation);
  void SetRates(const MatMulConfig& config, const Summary& kernel, ResultRow* row) const;
  absl::Status CheckPhysicalLimit(const MatMulConfig& config, const Summary& kernel) const;

  const SweepOptions& options_;
  const Machine& machine_;
  SteadyClock clock_;
  InitTimes init_times_;
  HostRows host_rows_;
  std::optional<MatMulWorkload> problem_;  // Of the last configuration's shape, form and type.
  std::optional<ProductError> error_;      // Of the last verification.
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_RUNNER_H_
