// Products of matrices in host memory that need not fit a GPU, at nearly the rate of those that do:
// tiles of C stay on a GPU while panels of A and B are copied in, and copies both ways overlap with
// the arithmetic.
//
//   MatMulProblem problem;  // As for MatMul(), with pointers to host memory.
//   StreamOptions options;
//   options.devices = {0, 1};  // Or none, for the current one.
//   absl::Status status = StreamedMatMul(problem, options);
//
// Memory may be pinned (HostBuffer, cudaMallocHost(), cudaHostRegister()), pageable, or a file that
// is mapped into it. Copies of pinned memory take a fraction of the others' time.

#ifndef STRIDEWISE_MATMUL_STREAMED_STREAMED_MATMUL_H_
#define STRIDEWISE_MATMUL_STREAMED_STREAMED_MATMUL_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/streaming/stream_options.h"
#include "matmul/matmul.h"
#include "matmul/streamed/stream_plan.h"

namespace stridewise {

// Computes C = alpha * op(A) * op(B) + beta * C and returns when C is in host memory. Takes what
// MatMul() takes, but one product only (batch of 1), C of the type of the sums (float for float,
// Bf16, Fp16, int32_t for int8_t), no epilogue, scales, device or workspace. C must not overlap A
// or B. The order of a sum depends on the plan, and so on what memory is free unless
// options.device_bytes or a checkpoint says.
//
// Returns InvalidArgument, naming the argument, for anything else; Cancelled, ResourceExhausted and
// the first error of a device as RunStreamJob() of stream_job.h does.
absl::Status StreamedMatMul(const MatMulProblem& problem, const StreamOptions& options = {});

// Returns the plan that StreamedMatMul() would follow, for matrices in its own row-major order:
// those of a column-major problem change places.
absl::StatusOr<MatMulStreamPlan> PlanStreamedMatMul(const MatMulProblem& problem,
                                                    const StreamOptions& options = {});

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_STREAMED_STREAMED_MATMUL_H_
