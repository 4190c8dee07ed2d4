#include "common/gpu/cupti_plan.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/gpu/cupti.h"

namespace stridewise {

absl::StatusOr<std::unique_ptr<CuptiPlan>> CuptiPlan::Create(const Cupti& cupti,
                                                             absl::Span<const std::string> names,
                                                             int device) {
  auto chip = NEW_CUPTI_PARAMS(CUpti_Device_GetChipName_Params);
  chip.deviceIndex = static_cast<size_t>(device);
  RETURN_IF_CUPTI_ERROR(cupti, DeviceGetChipName, chip);
  auto plan = std::unique_ptr<CuptiPlan>(new CuptiPlan(cupti, names));
  RETURN_IF_ERROR(plan->Open(chip.pChipName));
  return plan;
}

CuptiPlan::~CuptiPlan() {
  if (host_ == nullptr) return;
  auto params = NEW_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
  params.pHostObject = host_;
  cupti_.ProfilerHostDeinitialize(&params);
}

CuptiPlan::CuptiPlan(const Cupti& cupti, absl::Span<const std::string> names)
    : cupti_(cupti), names_(names.begin(), names.end()) {
  for (const std::string& name : names_) pointers_.push_back(name.c_str());
}

absl::StatusOr<std::vector<double>> CuptiPlan::Evaluate(const std::vector<uint8_t>& image) {
  std::vector<double> values(names_.size());
  auto params = NEW_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  params.pHostObject = host_;
  params.pCounterDataImage = image.data();
  params.counterDataImageSize = image.size();
  params.rangeIndex = 0;
  params.ppMetricNames = pointers_.data();
  params.numMetrics = pointers_.size();
  params.pMetricValues = values.data();
  RETURN_IF_CUPTI_ERROR(cupti_, ProfilerHostEvaluateToGpuValues, params);
  return values;
}

absl::Status CuptiPlan::Open(const char* chip) {
  ASSIGN_OR_RETURN(availability_, Availability());
  auto host = NEW_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params);
  host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  host.pChipName = chip;
  host.pCounterAvailabilityImage = availability_.data();
  RETURN_IF_CUPTI_ERROR(cupti_, ProfilerHostInitialize, host);
  host_ = host.pHostObject;
  for (const char* name : pointers_) RETURN_IF_ERROR(CheckName(name, chip));
  auto add = NEW_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  add.pHostObject = host_;
  add.ppMetricNames = pointers_.data();
  add.numMetrics = pointers_.size();
  const CUptiResult added = cupti_.ProfilerHostConfigAddMetrics(&add);
  if (added == CUPTI_ERROR_INVALID_METRIC_NAME) {
    return absl::InvalidArgumentError(absl::StrCat("one of '", absl::StrJoin(names_, ","),
                                                   "' is not known as a counter of ", chip,
                                                   "; a name ends as dram__bytes_read.sum does"));
  }
  RETURN_IF_ERROR(CuptiStatus(cupti_, added, "cuptiProfilerHostConfigAddMetrics"));
  auto size = NEW_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = host_;
  RETURN_IF_CUPTI_ERROR(cupti_, ProfilerHostGetConfigImageSize, size);
  config_.resize(size.configImageSize);
  auto image = NEW_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  image.pHostObject = host_;
  image.configImageSize = config_.size();
  image.pConfigImage = config_.data();
  RETURN_IF_CUPTI_ERROR(cupti_, ProfilerHostGetConfigImage, image);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> CuptiPlan::Availability() const {
  auto params = NEW_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  RETURN_IF_CUPTI_ERROR(cupti_, ProfilerGetCounterAvailability, params);
  std::vector<uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  RETURN_IF_CUPTI_ERROR(cupti_, ProfilerGetCounterAvailability, params);
  return image;
}

absl::Status CuptiPlan::CheckName(const char* name, const char* chip) const {
  auto params = NEW_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
  params.pHostObject = host_;
  params.pMetricName = name;
  if (cupti_.ProfilerHostGetMetricProperties(&params) != CUPTI_ERROR_INVALID_METRIC_NAME) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is not known; allowed are the counters of ", chip,
                   " that `ncu --query-metrics` lists, with an ending such as .sum"));
}

}  // namespace stridewise
