// Transposes of matrices in host memory that need not fit a GPU: tiles are copied in, transposed
// and copied out, all three at the same time.
//
//   const MatrixView in = {host_in, rows, cols, cols, sizeof(float)};
//   const MutableMatrixView out = {host_out, cols, rows, rows, sizeof(float)};
//   absl::Status status = StreamedTranspose(in, out);
//
// Every element crosses to the GPU once and back once: with pinned memory the link bounds it.

#ifndef STRIDEWISE_TRANSPOSE_STREAMED_STREAMED_TRANSPOSE_H_
#define STRIDEWISE_TRANSPOSE_STREAMED_STREAMED_TRANSPOSE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/streaming/stream_options.h"
#include "transpose/streamed/transpose_job.h"
#include "transpose/transpose.h"

namespace stridewise {

// Transposes `in` into `out`, both in host memory (pinned, pageable, or a file that is mapped into
// it), and returns when that is done. They must not overlap, and be one matrix, not a batch.
//
// Returns InvalidArgument, naming the argument, for anything else that Transpose() refuses;
// Cancelled, ResourceExhausted and the first error of a device as RunStreamJob() of stream_job.h
// does.
absl::Status StreamedTranspose(const MatrixView& in, const MutableMatrixView& out,
                               const StreamOptions& options = {});

// Returns the plan that StreamedTranspose() would follow.
absl::StatusOr<TransposeStreamPlan> PlanStreamedTranspose(const MatrixView& in,
                                                          const MutableMatrixView& out,
                                                          const StreamOptions& options = {});

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_STREAMED_STREAMED_TRANSPOSE_H_
