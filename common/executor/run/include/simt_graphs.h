// Streams, events, and graphs that are captured from streams: what is given to a captured stream is
// kept, and runs when the graph is launched. Graphs that are made node by node are not supported.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_GRAPHS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_GRAPHS_H_

#include "simt_runtime_api.h"

struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed,
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated,
};
enum cudaGraphExecUpdateResult { cudaGraphExecUpdateSuccess, cudaGraphExecUpdateError };
struct cudaGraphExecUpdateResultInfo {
  enum cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t simt_run_event_record(cudaEvent_t event, cudaStream_t stream);
cudaError_t simt_run_event_check(cudaEvent_t event);
cudaError_t simt_run_wait_event(cudaStream_t stream, cudaEvent_t event);
// The time of the host executor, not that of any GPU.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

cudaError_t simt_run_copy_async(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind,
                                cudaStream_t stream);
cudaError_t simt_run_set_async(void* to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* status);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t simt_run_instantiate(cudaGraphExec_t* exec, cudaGraph_t graph);
cudaError_t simt_run_update_graph(cudaGraphExec_t exec, cudaGraph_t graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

}  // extern "C"

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_GRAPHS_H_
