// Measures implementations that run on the CPU, the same way in all sweeps.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_HOST_ROWS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_HOST_ROWS_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/base/clock.h"
#include "common/measure/result_row.h"
#include "common/measure/statistics.h"

namespace stridewise {

// One side of a measurement.
struct HostCall {
  std::function<absl::Status()> run;  // One run, from the inputs to the result.
  std::function<void()> prepare;      // Before each run, outside its time; empty for nothing.
};

struct HostSubject {
  std::string implementation;
  double work = 0;  // Operations or bytes: what the time grows with.
  HostCall call;
  HostCall reference;                     // Sampled in turn with the call; empty for nothing.
  bool rests = false;                     // Several threads are at work; see Measure().
  std::function<void(double ms)> beside;  // After each sample of the call; empty for nothing.
  std::function<void()> poison;           // Spoils the result of the run before.
  std::function<absl::Status()> verify;   // Judges the result. DataLoss means a wrong one.
};

struct HostMeasurement {
  Summary kernel;
  double over_reference = 0;  // The reference's time over the call's; 0 without one.
};

class HostRows {
 public:
  // `options` is borrowed.
  explicit HostRows(const SweepOptions* options) : options_(*options) {}

  // DeadlineExceeded if the implementation's last row says that one run of so much work would take
  // longer than --max_row_seconds. Cheap: to be asked before inputs are made.
  absl::Status CheckTimeout(const std::string& implementation, double work) const;

  // Runs, judges, samples, judges again, and sets the columns of times: the total is the kernel's,
  // as there is nothing to allocate and nothing to copy. Cancelled once the sweep is interrupted.
  //
  // A sample of a short call is the mean of several in a row, of 20 us together: the clock itself
  // takes 50 ns. Libraries leave their threads spinning for a while after a call (pool_waits.cc);
  // beside a reference, calls that rest wait until those sleep and, if they are short, run untimed
  // to wake their own.
  absl::StatusOr<HostMeasurement> Measure(const HostSubject& subject, ResultRow* row);

 private:
  const SweepOptions& options_;
  SteadyClock clock_;
  std::map<std::string, double> seconds_per_work_;  // Of each implementation's last row.
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_HOST_ROWS_H_
