// Matrices of random numbers in host memory that are too large to be filled or judged element by
// element on one core.

#ifndef STRIDEWISE_BENCHMARKS_STREAMED_HOST_MATRICES_H_
#define STRIDEWISE_BENCHMARKS_STREAMED_HOST_MATRICES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mapped_file.h"
#include "common/base/matrix.h"
#include "common/gpu/buffer.h"

namespace stridewise {

// Owns a matrix of float without padding, in memory or in a file that is mapped into it.
struct HostMatrix {
  HostBuffer memory;
  MappedFile file;
  Matrix<float> view;
};

// Allocates a matrix in host memory.
absl::StatusOr<HostMatrix> AllocateHostMatrix(int64_t rows, int64_t cols, HostMemory kind);

// Makes a matrix in a file without a name in this directory.
absl::StatusOr<HostMatrix> CreateMappedMatrix(int64_t rows, int64_t cols,
                                              const std::string& directory);

// Fill a matrix, part by part on the current device: U[-1, 1) of the seed, and NaN.
absl::Status FillUniformThroughDevice(uint64_t seed, HostMatrix* matrix);
absl::Status PoisonThroughDevice(HostMatrix* matrix);

// Returns DataLoss, naming an element, where `out` is not the transpose of `in`: at some million
// elements, or at all.
absl::Status CheckTransposed(ConstMatrix<float> in, ConstMatrix<float> out, bool all);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_STREAMED_HOST_MATRICES_H_
