#include "benchmarks/harness/host_rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/row_columns.h"
#include "common/base/status_macros.h"
#include "common/measure/sampler.h"

namespace stridewise {

absl::Status HostRows::CheckTimeout(const std::string& implementation, double work) const {
  const auto last = seconds_per_work_.find(implementation);
  if (last == seconds_per_work_.end()) return absl::OkStatus();
  const double seconds = last->second * work;
  if (seconds <= options_.max_row_seconds) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(
      "one run would take about ", seconds, " s; --max_row_seconds is ", options_.max_row_seconds));
}

absl::StatusOr<Summary> HostRows::Measure(const HostSubject& subject, ResultRow* row) {
  const stridewise::Measure run = [&]() -> absl::StatusOr<double> {
    if (subject.prepare) subject.prepare();
    const double start = clock_.Now();
    RETURN_IF_ERROR(subject.run());
    return (clock_.Now() - start) * 1e3;
  };
  subject.poison();
  ASSIGN_OR_RETURN(const double first_ms, run());
  row->Set(Column::kFirstLaunchMs, first_ms);
  RETURN_IF_ERROR(subject.verify());
  subject.poison();
  ASSIGN_OR_RETURN(const Samples samples,
                   Sample(options_.sampling, clock_, run, nullptr, Interrupted));
  if (samples.interrupted) return absl::CancelledError("interrupted");
  RETURN_IF_ERROR(subject.verify());
  const Summary kernel = Summarize(samples.ms);
  seconds_per_work_[subject.implementation] = kernel.median * 1e-3 / std::max(1.0, subject.work);
  SetKernelTimes(kernel, row);
  row->Set(Column::kTotalMs, kernel.median);
  return kernel;
}

}  // namespace stridewise
