// Measures one configuration of any operation and writes what it found into a row.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_RUNNER_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_RUNNER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/host_rows.h"
#include "benchmarks/harness/init_times.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/harness/workload.h"
#include "common/base/clock.h"
#include "common/gpu/counters.h"
#include "common/measure/device_measurement.h"
#include "common/measure/host_counters.h"
#include "common/measure/result_row.h"

namespace stridewise {

// What rows tell beside their own time.
struct RowOptions {
  bool cross_check = false;    // Compare with the results of the problem's earlier rows.
  const Peer* peer = nullptr;  // Sample it in turn with each row that it can be paired with.
  // Of options.counters, and what there is of options.host_counters; tell the column `counters`.
  CounterSource* counters = nullptr;
  const HostCounters* host_counters = nullptr;
};

class Runner {
 public:
  // Both arguments are borrowed.
  Runner(const SweepOptions* options, const Machine* machine);

  // Returns the row of a configuration before it is measured: what RowKey() needs.
  ResultRow Describe(const Config& config) const;

  // Measures and sets all other columns, the speed-ups apart, and the status. Leaves the status
  // empty when the program was interrupted before the row was finished. Configurations in a row
  // that share a point share their operands and references.
  void Measure(const Config& config, const RowOptions& wanted, ResultRow* row);

 private:
  absl::Status MeasureOk(const Config& config, const RowOptions& wanted, ResultRow* row);
  absl::Status MeasureHost(const Config& config, const RowOptions& wanted, ResultRow* row);
  absl::Status MeasureFromHostMemory(const Config& config, ResultRow* row);
  absl::Status MeasureDevice(const Config& config, const RowOptions& wanted, ResultRow* row);
  absl::Status CheckSupported(const Config& config) const;
  absl::StatusOr<Workload*> WorkloadOf(const Config& config);
  absl::StatusOr<double> InitMs(const Config& config);
  absl::Status Verify(const Config& config, ResultRow* row);

  const SweepOptions& options_;
  const Machine& machine_;
  SteadyClock clock_;
  InitTimes init_times_;
  HostRows host_rows_;
  const Operation* operation_ = nullptr;  // Of the workload.
  Point point_;
  std::optional<Workload> workload_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_RUNNER_H_
