// OpenCounters() by CUPTI's range profiler: the work is one range that the user replays.
//
// CUPTI is loaded when counters are read, so that programs start without it. Each call takes a
// struct that begins with its size; New() makes one.

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <dlfcn.h>

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/gpu/counters.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/driver_function.h"

namespace stridewise {
namespace {

#define STRIDEWISE_CUPTI_FUNCTIONS(CALL)        \
  CALL(ProfilerInitialize)                      \
  CALL(ProfilerDeInitialize)                    \
  CALL(DeviceGetChipName)                       \
  CALL(ProfilerGetCounterAvailability)          \
  CALL(ProfilerHostInitialize)                  \
  CALL(ProfilerHostDeinitialize)                \
  CALL(ProfilerHostGetMetricProperties)         \
  CALL(ProfilerHostConfigAddMetrics)            \
  CALL(ProfilerHostGetConfigImageSize)          \
  CALL(ProfilerHostGetConfigImage)              \
  CALL(ProfilerHostEvaluateToGpuValues)         \
  CALL(RangeProfilerEnable)                     \
  CALL(RangeProfilerDisable)                    \
  CALL(RangeProfilerGetCounterDataSize)         \
  CALL(RangeProfilerCounterDataImageInitialize) \
  CALL(RangeProfilerSetConfig)                  \
  CALL(RangeProfilerStart)                      \
  CALL(RangeProfilerStop)                       \
  CALL(RangeProfilerPushRange)                  \
  CALL(RangeProfilerPopRange)                   \
  CALL(RangeProfilerDecodeData)                 \
  CALL(GetResultString)

// CUPTI's functions, by their names without "cupti".
struct Cupti {
#define STRIDEWISE_DECLARE(name) decltype(&cupti##name) name = nullptr;
  STRIDEWISE_CUPTI_FUNCTIONS(STRIDEWISE_DECLARE)
#undef STRIDEWISE_DECLARE
};

#define NEW(type) New<type>(type##_STRUCT_SIZE)
template <typename Params>
Params New(size_t size) {
  Params params = {};
  params.structSize = size;
  return params;
}

// Loads the library for the rest of the program: CUPTI does not survive dlclose().
absl::StatusOr<Cupti> LoadCupti() {
  void* library = nullptr;
  const std::string versioned = absl::StrCat("libcupti.so.", CUDART_VERSION / 1000);
  for (const char* path : {versioned.c_str(), "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
                           "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"}) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    return absl::UnavailableError(
        absl::StrCat(versioned,
                     " is not found; it is part of the CUDA toolkit, and LD_LIBRARY_PATH may name "
                     "its folder"));
  }
  Cupti cupti;
#define STRIDEWISE_LOAD(name)                                                             \
  cupti.name = reinterpret_cast<decltype(cupti.name)>(dlsym(library, "cupti" #name));     \
  if (cupti.name == nullptr) {                                                            \
    return absl::UnavailableError("CUPTI has no function cupti" #name ": it is too old"); \
  }
  STRIDEWISE_CUPTI_FUNCTIONS(STRIDEWISE_LOAD)
#undef STRIDEWISE_LOAD
  return cupti;
}

// What a machine or another tool, such as compute-sanitizer, stands in the way of.
bool IsUnsupported(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return true;
    default:
      return false;
  }
}

absl::Status CuptiStatus(const Cupti& cupti, CUptiResult result, absl::string_view call) {
  if (result == CUPTI_SUCCESS) return absl::OkStatus();
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
      result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES) {
    return absl::UnavailableError(
        absl::StrCat("the GPU's counters may not be read: ", kCounterPermission));
  }
  const char* text = nullptr;
  cupti.GetResultString(result, &text);
  return absl::Status(
      IsUnsupported(result) ? absl::StatusCode::kUnavailable : absl::StatusCode::kInternal,
      absl::StrCat(call, ": ", text == nullptr ? "unknown error" : text, " (",
                   static_cast<int>(result), ")"));
}

#define RETURN_IF_CUPTI_ERROR(cupti, name, params) \
  RETURN_IF_ERROR(CuptiStatus(cupti, (cupti).name(&(params)), "cupti" #name))

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
    auto chip = NEW(CUpti_Device_GetChipName_Params);
    chip.deviceIndex = static_cast<size_t>(device);
    RETURN_IF_CUPTI_ERROR(cupti, DeviceGetChipName, chip);
    auto plan = std::unique_ptr<Plan>(new Plan(cupti, names));
    RETURN_IF_ERROR(plan->Open(chip.pChipName));
    return plan;
  }

  ~Plan() {
    if (host_ == nullptr) return;
    auto params = NEW(CUpti_Profiler_Host_Deinitialize_Params);
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
    auto params = NEW(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
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
    auto host = NEW(CUpti_Profiler_Host_Initialize_Params);
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip;
    host.pCounterAvailabilityImage = availability_.data();
    RETURN_IF_CUPTI_ERROR(cupti_, ProfilerHostInitialize, host);
    host_ = host.pHostObject;
    for (const char* name : pointers_) RETURN_IF_ERROR(CheckName(name, chip));
    auto add = NEW(CUpti_Profiler_Host_ConfigAddMetrics_Params);
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
    auto size = NEW(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = host_;
    RETURN_IF_CUPTI_ERROR(cupti_, ProfilerHostGetConfigImageSize, size);
    config_.resize(size.configImageSize);
    auto image = NEW(CUpti_Profiler_Host_GetConfigImage_Params);
    image.pHostObject = host_;
    image.configImageSize = config_.size();
    image.pConfigImage = config_.data();
    RETURN_IF_CUPTI_ERROR(cupti_, ProfilerHostGetConfigImage, image);
    return absl::OkStatus();
  }

  // Returns CUPTI's list of the counters that can be read in the current context.
  absl::StatusOr<std::vector<uint8_t>> Availability() const {
    auto params = NEW(CUpti_Profiler_GetCounterAvailability_Params);
    RETURN_IF_CUPTI_ERROR(cupti_, ProfilerGetCounterAvailability, params);
    std::vector<uint8_t> image(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = image.data();
    RETURN_IF_CUPTI_ERROR(cupti_, ProfilerGetCounterAvailability, params);
    return image;
  }

  absl::Status CheckName(const char* name, const char* chip) const {
    auto params = NEW(CUpti_Profiler_Host_GetMetricProperties_Params);
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
    auto params = NEW(CUpti_RangeProfiler_Disable_Params);
    params.pRangeProfilerObject = profiler_;
    cupti_.RangeProfilerDisable(&params);
  }

  absl::Status StartPass() override {
    auto start = NEW(CUpti_RangeProfiler_Start_Params);
    start.pRangeProfilerObject = profiler_;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerStart, start);
    auto push = NEW(CUpti_RangeProfiler_PushRange_Params);
    push.pRangeProfilerObject = profiler_;
    push.pRangeName = "work";
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerPushRange, push);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> StopPass() override {
    auto pop = NEW(CUpti_RangeProfiler_PopRange_Params);
    pop.pRangeProfilerObject = profiler_;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerPopRange, pop);
    auto stop = NEW(CUpti_RangeProfiler_Stop_Params);
    stop.pRangeProfilerObject = profiler_;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerStop, stop);
    return stop.isAllPassSubmitted != 0;
  }

  absl::StatusOr<std::vector<double>> Values() override {
    auto decode = NEW(CUpti_RangeProfiler_DecodeData_Params);
    decode.pRangeProfilerObject = profiler_;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerDecodeData, decode);
    if (decode.numOfRangeDropped > 0) return absl::InternalError("counters: CUPTI lost the range");
    return plan_.Evaluate(image_);
  }

 private:
  CuptiSession(const Cupti& cupti, Plan* plan) : cupti_(cupti), plan_(*plan) {}

  absl::Status Open() {
    auto enable = NEW(CUpti_RangeProfiler_Enable_Params);
    ASSIGN_OR_RETURN(enable.ctx, CurrentContext());
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerEnable, enable);
    profiler_ = enable.pRangeProfilerObject;
    auto size = NEW(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = plan_.names().data();
    size.numMetrics = plan_.names().size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerGetCounterDataSize, size);
    image_.resize(size.counterDataSize);
    auto image = NEW(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    image.pRangeProfilerObject = profiler_;
    image.counterDataSize = image_.size();
    image.pCounterData = image_.data();
    RETURN_IF_CUPTI_ERROR(cupti_, RangeProfilerCounterDataImageInitialize, image);
    auto config = NEW(CUpti_RangeProfiler_SetConfig_Params);
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
    auto params = NEW(CUpti_Profiler_Initialize_Params);
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
    auto params = NEW(CUpti_Profiler_DeInitialize_Params);
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
