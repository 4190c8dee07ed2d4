// Work of a stream captured as a CUDA graph.

#ifndef STRIDEWISE_COMMON_GPU_CAPTURED_GRAPH_H_
#define STRIDEWISE_COMMON_GPU_CAPTURED_GRAPH_H_

#include <cuda_runtime_api.h>

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stridewise {

class CapturedGraph {
 public:
  // Captures what `work` queues on the stream, without executing it. Returns the work's error or
  // that of the capture, which fails for work that waits for the stream and, in the modes Global
  // and ThreadLocal, for work that allocates. The stream is left as it was. REQUIRES: it is not the
  // default stream, which cannot be captured.
  static absl::StatusOr<CapturedGraph> Capture(cudaStream_t stream, cudaStreamCaptureMode mode,
                                               absl::FunctionRef<absl::Status()> work);

  // Makes the graph executable, which Launch() does the first time.
  absl::Status Instantiate();

  // Queues the graph.
  absl::Status Launch(cudaStream_t stream);

  cudaGraph_t get() const { return graph_.get(); }

 private:
  struct Destroyer {
    void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
    void operator()(cudaGraphExec_t exec) const { (void)cudaGraphExecDestroy(exec); }
  };

  std::unique_ptr<CUgraph_st, Destroyer> graph_;
  std::unique_ptr<CUgraphExec_st, Destroyer> exec_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_CAPTURED_GRAPH_H_
