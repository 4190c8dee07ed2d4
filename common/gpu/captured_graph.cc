#include "common/gpu/captured_graph.h"

#include "common/base/status_macros.h"
#include "common/gpu/cuda_status.h"

namespace stridewise {

absl::StatusOr<CapturedGraph> CapturedGraph::Capture(cudaStream_t stream,
                                                     cudaStreamCaptureMode mode,
                                                     absl::FunctionRef<absl::Status()> work) {
  RETURN_IF_CUDA_ERROR(cudaStreamBeginCapture(stream, mode));
  const absl::Status of_work = work();
  cudaGraph_t captured = nullptr;
  const absl::Status of_capture = CUDA_STATUS(cudaStreamEndCapture(stream, &captured));
  CapturedGraph graph;
  graph.graph_.reset(captured);
  RETURN_IF_ERROR(of_work);
  RETURN_IF_ERROR(of_capture);
  return graph;
}

absl::Status CapturedGraph::Instantiate() {
  cudaGraphExec_t exec = nullptr;
  RETURN_IF_CUDA_ERROR(cudaGraphInstantiate(&exec, graph_.get(), 0));
  exec_.reset(exec);
  return absl::OkStatus();
}

absl::Status CapturedGraph::Launch(cudaStream_t stream) {
  if (exec_ == nullptr) RETURN_IF_ERROR(Instantiate());
  return CUDA_STATUS(cudaGraphLaunch(exec_.get(), stream));
}

}  // namespace stridewise
