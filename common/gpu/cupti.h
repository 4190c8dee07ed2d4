// CUPTI's functions, which are loaded when counters are read, so that programs start without the
// library. Each call takes a struct that begins with its size; NEW_CUPTI_PARAMS() makes one.

#ifndef STRIDEWISE_COMMON_GPU_CUPTI_H_
#define STRIDEWISE_COMMON_GPU_CUPTI_H_

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"

namespace stridewise {

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

// Returns the functions, or Unavailable where there is no library or one that is too old. It stays
// loaded for the rest of the program: CUPTI does not survive dlclose().
absl::StatusOr<Cupti> LoadCupti();

// Returns the error of a call: Unavailable where the machine, its permissions or another tool, such
// as compute-sanitizer, stand in the way, else Internal.
absl::Status CuptiStatus(const Cupti& cupti, CUptiResult result, absl::string_view call);

#define RETURN_IF_CUPTI_ERROR(cupti, name, params) \
  RETURN_IF_ERROR(CuptiStatus(cupti, (cupti).name(&(params)), "cupti" #name))

template <typename Params>
Params NewCuptiParams(size_t size) {
  Params params = {};
  params.structSize = size;
  return params;
}

#define NEW_CUPTI_PARAMS(type) NewCuptiParams<type>(type##_STRUCT_SIZE)

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_CUPTI_H_
