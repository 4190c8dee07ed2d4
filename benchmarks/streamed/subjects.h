// What streamed operations are timed beside: the same calls on a GPU's own memory, cublasXt, and
// the link.

#ifndef STRIDEWISE_BENCHMARKS_STREAMED_SUBJECTS_H_
#define STRIDEWISE_BENCHMARKS_STREAMED_SUBJECTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/streamed/host_matrices.h"
#include "common/streaming/stream_options.h"
#include "matmul/matmul.h"
#include "transpose/transpose.h"

namespace stridewise {

// A call that is timed by the host's clock. It owns what it needs beside the host's matrices.
struct Subject {
  std::string name;
  std::vector<int64_t> extents;       // Its own where they are not the shape's.
  std::function<absl::Status()> run;  // Returns when the result is there.
  std::vector<double> seconds;
  std::string tile;          // "16384x16384x2048" of streamed calls.
  double predicted_ms = 0;   // 0: not predicted.
  bool is_repeated = false;  // As long as the streamed call took or 10 s; its time is of one run.
};

// C = A * B by StreamedMatMul(), with the tiles of `tile` if it has any.
absl::StatusOr<Subject> StreamedProductSubject(const MatMulProblem& problem,
                                               const StreamOptions& options,
                                               const StreamCheckpoint& tile);

// Square products of MatMul(), one in memory of each device, of random numbers; the extents are
// those of all of them, one above the other. Repeated, since a GPU that computes for seconds lowers
// its clock.
absl::StatusOr<Subject> InMemoryProductSubject(int64_t n, MatMulPrecision precision,
                                               const std::vector<int>& devices);

// C = A * B of row-major matrices by cublasXtSgemm() with blocks of `block` squared, 0 for its own
// choice. Extents are less than 2^31.
absl::StatusOr<Subject> CublasXtSubject(const MatMulProblem& problem,
                                        const std::vector<int>& devices, int64_t block);

// Transposes by StreamedTranspose(), with the tiles of `tile` if it has any.
absl::StatusOr<Subject> StreamedTransposeSubject(const MatrixView& in, const MutableMatrixView& out,
                                                 const StreamOptions& options,
                                                 const StreamCheckpoint& tile);

// The matrices copied in, transposed and copied out, one after the other, in memory of the current
// device. ResourceExhausted where they do not fit.
absl::StatusOr<Subject> OneAfterTheOtherSubject(const MatrixView& in, const MutableMatrixView& out);

// As many bytes copied in and, at the same time, out, without rows, over the links of the devices
// in turn: what the links allow. Destroys `out`.
absl::StatusOr<Subject> BothWaysSubject(const MatrixView& in, const MutableMatrixView& out,
                                        const std::vector<int>& devices);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_STREAMED_SUBJECTS_H_
