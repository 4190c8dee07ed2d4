// Where `profile` has its figures from: the GPU's counters, the host executor, or both, compared.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_KERNEL_PROFILER_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_KERNEL_PROFILER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/profile/kernel_counts.h"
#include "benchmarks/profile/ncu_metrics.h"
#include "benchmarks/profile/ncu_output.h"
#include "common/measure/result_row.h"

namespace stridewise {

enum class ProfileSource { kExecutor, kNcu, kBoth };

// "executor", "ncu" or "both"; nothing for "auto".
absl::StatusOr<std::optional<ProfileSource>> ParseProfileSource(absl::string_view flag,
                                                                absl::string_view text);

class KernelProfiler {
 public:
  // `ncu` is the path of it, or why there is none. Options and machine are borrowed.
  KernelProfiler(ProfileSource source, const SweepOptions* options, const Machine* machine,
                 absl::StatusOr<std::string> ncu)
      : source_(source), options_(*options), machine_(*machine), ncu_(std::move(ncu)) {}

  // The row of a configuration before it is measured: what RowKey() needs. The executor knows no
  // L2, so that its rows and the GPU's are different ones.
  ResultRow Describe(const Config& config) const;

  // Sets all other columns and the status: from the GPU, where the source is both; the row is then
  // a mismatch if a count differs that must not. Leaves the status empty when interrupted.
  void Measure(const Config& config, ResultRow* row);

  // Of the last Measure(); nothing if the source is not both or there was nothing to compare.
  const std::optional<CountComparison>& comparison() const { return comparison_; }

 private:
  absl::Status MeasureOk(const Config& config, ResultRow* row);
  absl::Status Compare(const Config& config, ResultRow* row);
  absl::StatusOr<std::vector<NcuLaunch>> RunOnGpu(const Config& config);

  const ProfileSource source_;
  const SweepOptions& options_;
  const Machine& machine_;
  const absl::StatusOr<std::string> ncu_;
  std::vector<std::string> metrics_ = NcuMetrics();  // Those that ncu knows on this GPU.
  std::optional<CountComparison> comparison_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_KERNEL_PROFILER_H_
