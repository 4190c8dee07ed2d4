// Matrices of random numbers in host memory that are too large to be filled or judged element by
// element on one core.

#ifndef STRIDEWISE_BENCHMARKS_STREAMED_HOST_MATRICES_H_
#define STRIDEWISE_BENCHMARKS_STREAMED_HOST_MATRICES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/matrix.h"
#include "common/gpu/buffer.h"

namespace stridewise {

// Owns a matrix of float without padding.
struct HostMatrix {
  HostBuffer memory;
  Matrix<float> view;
};

// Allocates a matrix in host memory.
absl::StatusOr<HostMatrix> AllocateHostMatrix(int64_t rows, int64_t cols, HostMemory kind);

// Fill a matrix, part by part on the current device: U[-1, 1) of the seed, and NaN.
absl::Status FillUniformThroughDevice(uint64_t seed, HostMatrix* matrix);
absl::Status PoisonThroughDevice(HostMatrix* matrix);

// Returns DataLoss, naming an element, where `out` is not the transpose of `in`: at some million
// elements, or at all.
absl::Status CheckTransposed(ConstMatrix<float> in, ConstMatrix<float> out, bool all);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_STREAMED_HOST_MATRICES_H_
