// What is given to streams, where a capture may keep it for a graph.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_RUNTIME_STREAMS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_RUNTIME_STREAMS_H_

#include <functional>

#include "common/executor/run/include/simt_runtime_api.h"

namespace stridewise::executor {

using StreamWork = std::function<cudaError_t()>;

// Whether the work is not to run now, as its stream is captured, which keeps it, or as the default
// stream must not be used while another one is captured, which `error` says.
bool Captured(cudaStream_t stream, const StreamWork& work, cudaError_t* error);
bool Captured(const SimtLaunchRequest& request, cudaError_t* error);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_RUNTIME_STREAMS_H_
