#include "benchmarks/harness/row_columns.h"

#include <optional>

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

void SetState(const DeviceState& state, ResultRow* row) {
  if (state.sm_clock_mhz.has_value()) row->Set(Column::kSmClockMhz, *state.sm_clock_mhz);
  if (state.power_w.has_value()) row->Set(Column::kPowerW, *state.power_w);
  if (state.temperature_c.has_value()) row->Set(Column::kTemperatureC, *state.temperature_c);
  if (state.throttle_reasons.has_value()) {
    row->Set(Column::kThrottleReason, *state.throttle_reasons);
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
  row->Set(Column::kKernels, absl::StrJoin(measurement.kernels, ";"));
}

absl::Status SetBandwidth(const DeviceMeasurement& measurement, double bytes_moved,
                          const DeviceInfo& device, ResultRow* row) {
  const double gbps = bytes_moved / measurement.kernel.median / 1e6;
  const double peak = PeakBandwidthGbps(device);
  row->Set(Column::kGbps, gbps);
  if (measurement.of_reference.has_value()) {
    row->Set(Column::kPctOfCopy, 100 * *measurement.of_reference);
  }
  if (peak == 0) return absl::OkStatus();
  row->Set(Column::kPctOfPeak, 100 * gbps / peak);
  // What fits in the L2 need not go to memory before the clock stops.
  const bool through_memory = bytes_moved > 2 * static_cast<double>(device.l2_bytes);
  if (through_memory && gbps > peak) {
    return absl::InternalError(absl::StrCat(gbps, " GB/s is above the device's limit of ", peak));
  }
  return absl::OkStatus();
}

void SetOutcome(const absl::Status& status, ResultRow* row) {
  if (absl::IsCancelled(status)) return;
  row->SetStatus(StatusFor(status), status.message());
}

}  // namespace stridewise
