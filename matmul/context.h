// Matrix multiplication with a workspace that nobody has to think of: a context for each stream, as
// a cuBLAS handle.
//
//   ASSIGN_OR_RETURN(MatMulContext context, MatMulContext::Create(stream));
//   for (...) RETURN_IF_ERROR(MatMul(context, problem));  // MatMulProblem of matmul.h
//
// A context owns the workspace of the calls on its stream. It has none at first and allocates what
// MatMulWorkspaceBytes() says where a call needs more than there is; after the first few calls of a
// program that is never. The result has the same bits as with a workspace of the caller's.
//
// - Streams: a context belongs to one stream of one device. Calls on two streams need two contexts:
//   one workspace cannot serve both.
// - Threads: calls with one context may be made from several threads at once; they are queued one
//   after the other. Contexts know nothing of each other.
// - Growth: in the order of the stream (cudaMallocAsync()), without waiting for it. Calls that were
//   queued before keep what they were given.
// - Graphs: calls may be captured. All calls of one capture get a block of workspace of their own,
//   which is allocated during the capture (its first call, or Reserve()), is no part of the graph,
//   and is kept until the context ends. So graphs may be launched on any stream, at the same time
//   as each other and as other calls, and whatever the context does later. A graph that is launched
//   twice at the same time shares it with itself, as it does C. The context must outlive the
//   graphs, and each capture costs memory: many graphs that never run at once had better share a
//   workspace of the caller's (MatMulProblem::workspace).
// - End: the context must end before its stream does, while nobody captures the stream. It waits
//   for the device if calls were captured, and otherwise for nothing.
// - cudaDeviceReset() takes the workspace with it: the context is of no more use.

#ifndef STRIDEWISE_MATMUL_CONTEXT_H_
#define STRIDEWISE_MATMUL_CONTEXT_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"
#include "matmul/matmul.h"

namespace stridewise {

class MatMulContext {
 public:
  // Makes a context for a stream, which may be null, of `device`. Allocates nothing on the device.
  // Returns InvalidArgument for a device that is not there, Unavailable where there is none or
  // without device code.
  static absl::StatusOr<MatMulContext> Create(cudaStream_t stream, int device = kCurrentDevice);

  MatMulContext(MatMulContext&& other) noexcept;
  MatMulContext& operator=(MatMulContext&& other) noexcept;
  ~MatMulContext();

  // Allocates this number of bytes now, so that no call that needs at most as much allocates: for a
  // program that cannot wait later, and for the capture that the stream takes part in. Returns
  // ResourceExhausted where the device does not have them.
  absl::Status Reserve(int64_t bytes);

  // Returns the bytes of device memory that the context holds.
  int64_t allocated_bytes() const;

  cudaStream_t stream() const;
  int device() const;

 private:
  struct State;
  explicit MatMulContext(std::unique_ptr<State> state);

  friend absl::Status MatMul(MatMulContext& context, const MatMulProblem& problem);

  std::unique_ptr<State> state_;  // Null after a move.
};

// Queues the multiplication on the context's stream, as MatMul() of matmul.h does, with the
// context's workspace. REQUIRES: `context` was not moved from.
//
// Returns InvalidArgument, too, for a problem with a workspace of its own, and for one with another
// device than the context's; ResourceExhausted, with the number of bytes, where the device does not
// have the workspace. Nothing is launched then, and a call without a context needs no workspace.
absl::Status MatMul(MatMulContext& context, const MatMulProblem& problem);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CONTEXT_H_
