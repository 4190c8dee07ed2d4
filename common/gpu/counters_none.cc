// OpenCounters() in a build without CUPTI's range profiler.

#include "common/gpu/counters.h"

namespace stridewise {

absl::StatusOr<std::unique_ptr<CounterSource>> OpenCounters(absl::Span<const std::string> /*names*/,
                                                            int /*device*/) {
  return absl::UnavailableError(
      "built without CUPTI's range profiler, which CUDA toolkits have from 12.6 on");
}

}  // namespace stridewise
