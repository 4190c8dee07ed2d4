// Measures one implementation of the registry at one shape and writes what it found into a row.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_RUNNER_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_RUNNER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/host_rows.h"
#include "benchmarks/harness/init_times.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/transpose/transpose_plan.h"
#include "benchmarks/transpose/transpose_problem.h"
#include "common/base/clock.h"
#include "common/measure/result_row.h"

namespace stridewise {

class TransposeRunner {
 public:
  // Both arguments are borrowed.
  TransposeRunner(const SweepOptions* options, const Machine* machine);

  // The row of a configuration before it is measured: what RowKey() needs.
  ResultRow DescribeConfig(const TransposeConfig& config) const;

  // Measures and sets all other columns, the speed-ups apart, and the status. Leaves the status
  // empty when the sweep was interrupted before the row was finished. Configurations of one shape,
  // batch and type in a row share their input.
  void Measure(const TransposeConfig& config, ResultRow* row);

 private:
  absl::Status MeasureOk(const TransposeConfig& config, ResultRow* row);
  absl::Status MeasureHost(const TransposeConfig& config, ResultRow* row);
  absl::Status MeasureDevice(const TransposeConfig& config, ResultRow* row);
  absl::Status EnsureProblem(const TransposeConfig& config);
  absl::StatusOr<double> InitMs(const TransposeImplementation& implementation);

  const SweepOptions& options_;
  const Machine& machine_;
  SteadyClock clock_;
  InitTimes init_times_;
  HostRows host_rows_;
  std::optional<TransposeProblem> problem_;  // Of the last configuration's shape, batch and type.
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_RUNNER_H_
