#include "common/gpu/cupti.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/gpu/counters.h"

namespace stridewise {
namespace {

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

}  // namespace

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

}  // namespace stridewise
