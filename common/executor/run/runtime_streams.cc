// The runtime's streams, events and graphs. Nothing overlaps: what is given to a stream runs within
// the call, or is kept by the capture that the stream belongs to.

#include "common/executor/run/runtime_streams.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "common/executor/run/include/simt_graphs.h"
#include "common/executor/run/runtime.h"

using stridewise::executor::Captured;
using stridewise::executor::Locked;
using stridewise::executor::StreamWork;

struct CUevent_st {
  bool recorded = false;
  CUgraph_st* capture = nullptr;  // Recorded in a captured stream.
  std::chrono::steady_clock::time_point time;
};
struct CUgraph_st {
  std::vector<StreamWork> work;
  std::set<cudaStream_t> streams;  // While it is captured.
};
struct CUgraphExec_st {
  std::vector<StreamWork> work;
};
struct CUstream_st {
  int priority = 0;
  CUgraph_st* capture = nullptr;
};

namespace {

std::atomic<int> captures = {0};  // That are not at their end.

// Whether it is one of the streams that no program has created.
bool IsDefault(cudaStream_t stream) {
  return reinterpret_cast<uintptr_t>(stream) <= reinterpret_cast<uintptr_t>(cudaStreamPerThread);
}

CUgraph_st* CaptureOf(cudaStream_t stream) { return IsDefault(stream) ? nullptr : stream->capture; }

cudaError_t RunAll(const std::vector<StreamWork>& work) {
  cudaError_t error = cudaSuccess;
  for (const StreamWork& each : work) {
    if (error == cudaSuccess) error = each();
  }
  return error;
}

// Returns a launch that owns its arguments.
StreamWork WorkOf(const SimtLaunchRequest& request) {
  // The arguments of a kernel are copied as bytes, as CUDA does it.
  const size_t words = request.arguments_bytes / sizeof(std::max_align_t) + 1;
  auto kept = std::make_shared<std::vector<std::max_align_t>>(words);
  std::memcpy(kept->data(), request.arguments, request.arguments_bytes);
  return [request, kept] {
    SimtLaunchRequest again = request;
    again.arguments = kept->data();
    return Locked()->Launch(again);
  };
}

// Runs it now, or keeps it.
cudaError_t Give(cudaStream_t stream, const StreamWork& work) {
  cudaError_t error = cudaSuccess;
  return Captured(stream, work, &error) ? error : work();
}

}  // namespace

namespace stridewise::executor {

bool Captured(cudaStream_t stream, const StreamWork& work, cudaError_t* error) {
  Locked runtime;
  if (captures > 0 && stream == nullptr) {
    // The default stream waits for all others, and these are not running.
    *error = runtime->Note(cudaErrorStreamCaptureImplicit);
    return true;
  }
  CUgraph_st* capture = CaptureOf(stream);
  if (capture == nullptr) return false;
  capture->work.push_back(work);
  *error = cudaSuccess;
  return true;
}

bool Captured(const SimtLaunchRequest& request, cudaError_t* error) {
  if (captures == 0) return false;
  return Captured(request.stream, WorkOf(request), error);
}

}  // namespace stridewise::executor

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  *stream = new CUstream_st{priority};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t simt_run_event_record(cudaEvent_t event, cudaStream_t stream) {
  Locked runtime;
  if (event == nullptr) return runtime->Note(cudaErrorInvalidResourceHandle);
  event->capture = CaptureOf(stream);
  event->recorded = event->capture == nullptr;
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t simt_run_event_check(cudaEvent_t event) {
  return event == nullptr ? Locked()->Note(cudaErrorInvalidResourceHandle) : cudaSuccess;
}
cudaError_t simt_run_wait_event(cudaStream_t stream, cudaEvent_t event) {
  Locked runtime;
  if (event == nullptr) return runtime->Note(cudaErrorInvalidResourceHandle);
  if (event->capture != nullptr && !IsDefault(stream)) {
    stream->capture = event->capture;
    event->capture->streams.insert(stream);
  }
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (start == nullptr || end == nullptr || !start->recorded || !end->recorded) {
    return Locked()->Note(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}

cudaError_t simt_run_copy_async(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                cudaStream_t stream) {
  return Give(stream, [=] { return Locked()->Copy(to, from, bytes, kind); });
}
cudaError_t simt_run_set_async(void* to, int value, size_t bytes, cudaStream_t stream) {
  return Give(stream, [=] { return Locked()->Set(to, value, bytes); });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return Give(stream, [=] {
    function(data);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  Locked runtime;
  if (stream == nullptr) return runtime->Note(cudaErrorStreamCaptureUnsupported);
  if (IsDefault(stream) || stream->capture != nullptr) {
    return runtime->Note(cudaErrorIllegalState);
  }
  stream->capture = new CUgraph_st();
  stream->capture->streams.insert(stream);
  ++captures;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  Locked runtime;
  CUgraph_st* capture = CaptureOf(stream);
  if (capture == nullptr) return runtime->Note(cudaErrorIllegalState);
  for (const cudaStream_t each : capture->streams) each->capture = nullptr;
  capture->streams.clear();
  --captures;
  *graph = capture;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  Locked runtime;
  *status =
      CaptureOf(stream) == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (nodes != nullptr) return Locked()->Note(cudaErrorNotSupported);
  *count = graph->work.size();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t simt_run_instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  *exec = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}
cudaError_t simt_run_update_graph(cudaGraphExec_t exec, cudaGraph_t graph) {
  exec->work = graph->work;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return Give(stream, [work = exec->work] { return RunAll(work); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}

}  // extern "C"
