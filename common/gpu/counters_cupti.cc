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
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/gpu/counters.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/cupti.h"
#include "common/gpu/cupti_plan.h"
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

class CuptiSession : public CounterSession {
 public:
  static absl::StatusOr<std::unique_ptr<CuptiSession>> Create(const Cupti& cupti, CuptiPlan* plan) {
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
  CuptiSession(const Cupti& cupti, CuptiPlan* plan) : cupti_(cupti), plan_(*plan) {}

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
  CuptiPlan& plan_;
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
    ASSIGN_OR_RETURN(source->plan_, CuptiPlan::Create(source->cupti_, names, device));
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
  std::unique_ptr<CuptiPlan> plan_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CounterSource>> OpenCounters(absl::Span<const std::string> names,
                                                            int device) {
  return CuptiSource::Create(names, device);
}

}  // namespace stridewise
