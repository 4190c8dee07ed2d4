// OpenCounters() by CUPTI's range profiler: the work is one range that the user replays.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/gpu/counters.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/cupti.h"
#include "common/gpu/driver_function.h"

namespace stridewise {
namespace {

absl::StatusOr<CUcontext> CurrentContext() {
  ASSIGN_OR_RETURN(auto* get_current,
                   DriverFunction<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent", 12000));
  CUcontext context = nullptr;
  if (get_current(&context) == CUDA_SUCCESS && context != nullptr) return context;
  return absl::UnavailableError("there is no context of the device");
}

// CUPTI's description of the chip, and the configuration of its counters for the names.
class Plan {
 public:
  static absl::StatusOr<std::unique_ptr<Plan>> Create(const Cupti& cupti,
                                                      absl::Span<const std::string> names,
                                                      int device) {
    auto chip = NEW_CUPTI_PARAMS(CUpti_Device_GetChipName_Params);
    chip.deviceIndex = static_cast<size_t>(device);
    RETURN_IF_CUPTI_ERROR(cupti, DeviceGetChipName, chip);
    auto plan = std::unique_ptr<Plan>(new Plan(cupti, names));
    RETURN_IF_ERROR(plan->Open(chip.pChipName));
    return plan;
  }

  ~Plan() {
    if (host_ == nullptr) return;
    auto params = NEW_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    params.pHostObject = host_;
    cupti_.ProfilerHostDeinitialize(&params);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const std::vector<uint8_t>& config() const { return config_; }
  std::vector<const char*>& names() { return pointers_; }

  // Returns the values of the only range of a decoded image.
  absl::StatusOr<std::vector<double>> Evaluate(const std::vector<uint8_t>& image) {
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

 private:
  Plan(const Cupti& cupti, absl::Span<const std::string> names)
      : cupti_(cupti), names_(names.begin(), names.end()) {
    for (const std::string& name : names_) pointers_.push_back(name.c_str());
  }

  absl::Status Open(const char* chip) {
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

  // Returns CUPTI's list of the counters that can be read in the current context.
  absl::StatusOr<std::vector<uint8_t>> Availability() const {
    auto params = NEW_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
    RETURN_IF_CUPTI_ERROR(cupti_, ProfilerGetCounterAvailability, params);
    std::vector<uint8_t> image(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = image.data();
    RETURN_IF_CUPTI_ERROR(cupti_, ProfilerGetCounterAvailability, params);
    return image;
  }

  absl::Status CheckName(const char* name, const char* chip) const {
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

  const Cupti& cupti_;
  const std::vector<std::string> names_;
  std::vector<const char*> pointers_;
  std::vector<uint8_t> availability_;
  std::vector<uint8_t> config_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

class CuptiSession : public CounterSession {
 public:
  static absl::StatusOr<std::unique_ptr<CuptiSession>> Create(const Cupti& cupti, Plan* plan) {
    auto session = std::unique_ptr<CuptiSession>(new CuptiSession(cupti, plan));
    RETURN_IF_ERROR(session->Open());
    return session;
  }

  ~CuptiSession() override {
    if (profiler_ == nullptr) return;
    auto params = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params);
    params.pRangeProfilerObject = profiler_;
    cupti_.RangeProfilerDisable(&params);
  }

  absl::Status StartPass() override {
    auto start = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params);
    start.pRangeProfilerObject = profiler_;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerStart, start);
    auto push = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params);
    push.pRangeProfilerObject = profiler_;
    push.pRangeName = "work";
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerPushRange, push);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> StopPass() override {
    auto pop = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params);
    pop.pRangeProfilerObject = profiler_;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerPopRange, pop);
    auto stop = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params);
    stop.pRangeProfilerObject = profiler_;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerStop, stop);
    return stop.isAllPassSubmitted != 0;
  }

  absl::StatusOr<std::vector<double>> Values() override {
    auto decode = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
    decode.pRangeProfilerObject = profiler_;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerDecodeData, decode);
    if (decode.numOfRangeDropped > 0) return absl::InternalError("counters: CUPTI lost the range");
    return plan_.Evaluate(image_);
  }

 private:
  CuptiSession(const Cupti& cupti, Plan* plan) : cupti_(cupti), plan_(*plan) {}

  absl::Status Open() {
    auto enable = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params);
    ASSIGN_OR_RETURN(enable.ctx, CurrentContext());
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerEnable, enable);
    profiler_ = enable.pRangeProfilerObject;
    auto size = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = plan_.names().data();
    size.numMetrics = plan_.names().size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerGetCounterDataSize, size);
    image_.resize(size.counterDataSize);
    auto image = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    image.pRangeProfilerObject = profiler_;
    image.counterDataSize = image_.size();
    image.pCounterData = image_.data();
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerCounterDataImageInitialize, image);
    auto config = NEW_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
    config.pRangeProfilerObject = profiler_;
    config.configSize = plan_.config().size();
    config.pConfig = plan_.config().data();
    config.counterDataImageSize = image_.size();
    config.pCounterDataImage = image_.data();
    config.range = CUPTI_UserRange;
    config.replayMode = CUPTI_UserReplay;
    config.maxRangesPerPass = 1;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.targetNestingLevel = 1;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerSetConfig, config);
    return absl::OkStatus();
  }

  const Cupti& cupti_;
  Plan& plan_;
  std::vector<uint8_t> image_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
};

class CuptiSource : public CounterSource {
 public:
  static absl::StatusOr<std::unique_ptr<CounterSource>> Create(absl::Span<const std::string> names,
                                                               int device) {
    int devices = 0;
    RETURN_IF_CUDA_ERROR(cudaGetDeviceCount(&devices));  // CUPTI's error for none is "unknown".
    ASSIGN_OR_RETURN(const Cupti cupti, LoadCupti());
    auto source = std::unique_ptr<CuptiSource>(new CuptiSource(cupti));
    auto params = NEW_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params);
    RETURN_IF_CUPTI_ERROR(source->cupti_, ProfilerInitialize, params);
    source->initialised_ = true;
    ASSIGN_OR_RETURN(source->plan_, Plan::Create(source->cupti_, names, device));
    // What is not permitted is refused here.
    RETURN_IF_ERROR(source->Begin().status());
    return std::unique_ptr<CounterSource>(std::move(source));
  }

  ~CuptiSource() override {
    plan_.reset();
    if (!initialised_) return;
    auto params = NEW_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params);
    cupti_.ProfilerDeInitialize(&params);
  }

  absl::StatusOr<std::unique_ptr<CounterSession>> Begin() override {
    ASSIGN_OR_RETURN(std::unique_ptr<CuptiSession> session,
                     CuptiSession::Create(cupti_, plan_.get()));
    return std::unique_ptr<CounterSession>(std::move(session));
  }

 private:
  explicit CuptiSource(const Cupti& cupti) : cupti_(cupti) {}

  const Cupti cupti_;
  bool initialised_ = false;
  std::unique_ptr<Plan> plan_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CounterSource>> OpenCounters(absl::Span<const std::string> names,
                                                            int device) {
  return CuptiSource::Create(names, device);
}

}  // namespace stridewise
