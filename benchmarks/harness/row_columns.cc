#include "benchmarks/harness/row_columns.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stridewise {
namespace {

RowStatus StatusFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return RowStatus::kOk;
    case absl::StatusCode::kUnavailable:
      return RowStatus::kSkipped;
    case absl::StatusCode::kResourceExhausted:
      return RowStatus::kOutOfMemory;
    case absl::StatusCode::kDataLoss:
      return RowStatus::kMismatch;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
      return RowStatus::kUnsupported;
    case absl::StatusCode::kDeadlineExceeded:
      return RowStatus::kTimeout;
    default:
      return RowStatus::kError;
  }
}

}  // namespace

absl::string_view HostMemoryName(HostMemory memory) {
  return memory == HostMemory::kPinned ? "pinned" : "pageable";
}

void SetKernelTimes(const Summary& kernel, ResultRow* row) {
  row->Set(Column::kSamples, kernel.samples);
  row->Set(Column::kKernelMsMin, kernel.min);
  row->Set(Column::kKernelMsMedian, kernel.median);
  row->Set(Column::kKernelMsMean, kernel.mean);
  row->Set(Column::kKernelMsP95, kernel.p95);
  if (kernel.samples < 2) return;
  row->Set(Column::kKernelMsCiLow, kernel.ci_low);
  row->Set(Column::kKernelMsCiHigh, kernel.ci_high);
  row->Set(Column::kKernelMsStddev, kernel.stddev);
}

void SetState(const DeviceState& state, ResultRow* row) {
  if (state.sm_clock_mhz.has_value()) row->Set(Column::kSmClockMhz, *state.sm_clock_mhz);
  if (state.power_w.has_value()) row->Set(Column::kPowerW, *state.power_w);
  if (state.temperature_c.has_value()) row->Set(Column::kTemperatureC, *state.temperature_c);
  if (state.throttle_reasons.has_value()) {
    row->Set(Column::kThrottleReason, *state.throttle_reasons);
  }
}

std::string KernelsText(absl::Span<const std::string> names) {
  constexpr size_t kMostRuns = 100;
  std::vector<std::string> runs;
  size_t begin = 0;
  while (begin < names.size() && runs.size() < kMostRuns) {
    size_t end = begin + 1;
    while (end < names.size() && names[end] == names[begin]) ++end;
    runs.push_back(end - begin == 1 ? names[begin] : absl::StrCat(names[begin], " x", end - begin));
    begin = end;
  }
  if (begin < names.size()) runs.push_back(absl::StrCat("and ", names.size() - begin, " more"));
  return absl::StrJoin(runs, ";");
}

void SetMeasurement(const DeviceMeasurement& measurement, ResultRow* row) {
  SetKernelTimes(measurement.kernel, row);
  const struct {
    Phase phase;
    Column column;
  } phases[] = {
      {Phase::kAlloc, Column::kAllocMs},
      {Phase::kH2d, Column::kH2dMs},
      {Phase::kFirstLaunch, Column::kFirstLaunchMs},
      {Phase::kD2h, Column::kD2hMs},
      {Phase::kFree, Column::kFreeMs},
      {Phase::kTotal, Column::kTotalMs},
  };
  for (const auto& [phase, column] : phases) {
    const std::optional<double> ms = measurement.phases.Ms(phase);
    if (ms.has_value()) row->Set(column, *ms);
  }
  SetState(measurement.state, row);
  row->Set(Column::kKernels, KernelsText(measurement.kernels));
}

double WorkToTime(const Work& work) { return work.flops > 0 ? work.flops : work.bytes; }

void SetRates(const Work& work, const Summary& kernel, ResultRow* row) {
  if (work.flops > 0) row->Set(Column::kGflops, work.flops / kernel.median / 1e6);
  row->Set(Column::kGbps, work.bytes / kernel.median / 1e6);
}

absl::Status SetDeviceRates(const Work& work, const Summary& kernel, double peak_gflops,
                            const DeviceInfo& device, ResultRow* row) {
  SetRates(work, kernel, row);
  const double gflops = work.flops / kernel.median / 1e6;
  const double gbps = work.bytes / kernel.median / 1e6;
  const double peak_gbps = PeakBandwidthGbps(device);
  const bool computes = work.flops > 0;
  const double peak = computes ? peak_gflops : peak_gbps;
  if (peak > 0) row->Set(Column::kPctOfPeak, 100 * (computes ? gflops : gbps) / peak);
  if (peak > 0 && peak_gbps > 0) {
    const double compute_ms = computes ? work.flops / peak_gflops / 1e6 : 0;
    row->Set(Column::kBoundMs, std::max(compute_ms, work.bytes / peak_gbps / 1e6));
  }
  if (peak_gflops > 0 && gflops > peak_gflops) {
    return absl::InternalError(
        absl::StrCat(gflops, " GFLOP/s is above the device's limit of ", peak_gflops));
  }
  // What fits in the L2 need not go to memory before the clock stops.
  const bool through_memory = work.bytes > 2 * static_cast<double>(device.l2_bytes);
  if (through_memory && peak_gbps > 0 && gbps > peak_gbps) {
    return absl::InternalError(
        absl::StrCat(gbps, " GB/s is above the device's limit of ", peak_gbps));
  }
  return absl::OkStatus();
}

void SetHostRates(const Work& work, const Summary& kernel, double peak_gflops, double copy_gbps,
                  ResultRow* row) {
  SetRates(work, kernel, row);
  double bound_ms = copy_gbps > 0 ? work.bytes / copy_gbps / 1e6 : 0;
  if (work.flops > 0 && peak_gflops > 0) {
    row->Set(Column::kPctOfPeak, 100 * work.flops / kernel.median / 1e6 / peak_gflops);
    bound_ms = std::max(bound_ms, work.flops / peak_gflops / 1e6);
  } else if (work.flops == 0 && copy_gbps > 0) {
    row->Set(Column::kPctOfPeak, 100 * work.bytes / kernel.median / 1e6 / copy_gbps);
  }
  if (bound_ms > 0) row->Set(Column::kBoundMs, bound_ms);
}

void SetOutcome(const absl::Status& status, ResultRow* row) {
  if (absl::IsCancelled(status)) return;
  row->SetStatus(StatusFor(status), status.message());
}

}  // namespace stridewise
