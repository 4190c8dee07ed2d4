#include "benchmarks/profile/kernel_profiler.h"

#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/executor_run.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/row_columns.h"
#include "benchmarks/harness/runner.h"
#include "benchmarks/profile/ncu_run.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

void SetGpuColumns(const Config& config, absl::Span<const NcuLaunch> launches, ResultRow* row) {
  SetNcuColumns(launches, row);
  double ms = 0;
  if (absl::SimpleAtod(row->Get(Column::kKernelMsMedian), &ms) && ms > 0) {
    row->Set(Column::kGbps, config.operation->MakeProblem(config.point)->work().bytes / ms / 1e6);
  }
}

}  // namespace

absl::StatusOr<std::optional<ProfileSource>> ParseProfileSource(absl::string_view flag,
                                                                absl::string_view text) {
  if (text == "executor") return ProfileSource::kExecutor;
  if (text == "ncu") return ProfileSource::kNcu;
  if (text == "both") return ProfileSource::kBoth;
  if (text == "auto") return std::nullopt;
  return RefuseValue(flag, text, "auto, executor, ncu or both");
}

ResultRow KernelProfiler::Describe(const Config& config) const {
  ResultRow row = Runner(&options_, &machine_).Describe(config);
  // Nothing is copied from or to the host. It also keeps these rows apart from those of the sweeps,
  // so that both can live in one file.
  row.Set(Column::kHostMemory, "");
  if (source_ == ProfileSource::kExecutor) row.Set(Column::kL2, "");
  return row;
}

void KernelProfiler::Measure(const Config& config, ResultRow* row) {
  comparison_.reset();
  machine_.Describe(
      source_ != ProfileSource::kExecutor && config.operation->HasKernel(*config.implementation),
      row);
  SetOutcome(MeasureOk(config, row), row);
}

absl::Status KernelProfiler::MeasureOk(const Config& config, ResultRow* row) {
  if (!config.operation->HasKernel(*config.implementation)) {
    return absl::InvalidArgumentError("it has no kernel of its own that a profiler could watch");
  }
  if (config.operation->MakeProblem(config.point)->empty()) {
    return absl::InvalidArgumentError("an empty matrix: nothing is launched");
  }
  if (source_ == ProfileSource::kBoth) return Compare(config, row);
  if (source_ == ProfileSource::kExecutor) {
    ASSIGN_OR_RETURN(const executor::Profile profile, ProfileOnExecutor(config, options_.seed));
    SetProfileColumns(profile, row);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<NcuLaunch> launches, RunOnGpu(config));
  SetGpuColumns(config, launches, row);
  return absl::OkStatus();
}

absl::Status KernelProfiler::Compare(const Config& config, ResultRow* row) {
  const absl::StatusOr<executor::Profile> profile = ProfileOnExecutor(config, options_.seed);
  if (!profile.ok() && !absl::IsUnimplemented(profile.status())) return profile.status();
  const absl::StatusOr<std::vector<NcuLaunch>> launches = RunOnGpu(config);
  if (absl::IsCancelled(launches.status())) return launches.status();
  comparison_.emplace();
  comparison_->implementation = config.implementation->name;
  if (profile.ok()) comparison_->predicted = PredictedCounts(*profile);
  if (launches.ok()) comparison_->measured = MeasuredCounts(*launches);
  RETURN_IF_ERROR(launches.status());
  SetGpuColumns(config, *launches, row);
  return comparison_->ToStatus();
}

absl::StatusOr<std::vector<NcuLaunch>> KernelProfiler::RunOnGpu(const Config& config) {
  RETURN_IF_ERROR(machine_.gpu_status());
  if (!config.implementation->is_built_in) return absl::UnavailableError(kWithoutDeviceCode);
  RETURN_IF_ERROR(ncu_.status());
  absl::StatusOr<std::vector<NcuLaunch>> launches = RunNcu(*ncu_, config, options_, &metrics_);
  if (Interrupted()) return absl::CancelledError("interrupted");  // ncu, too, heard Ctrl-C.
  return launches;
}

}  // namespace stridewise
