// Copies tiles of 16-bit elements to shared memory by cp.async, for kernels without the TMA.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_COPY_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_COPY_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "common/base/matrix.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// A matrix, and whether each row of it begins at a multiple of 16 bytes.
template <typename T>
struct TensorSource {
  ConstMatrix<T> matrix;
  bool vectors;

  explicit TensorSource(const ConstMatrix<T>& of)
      : matrix(of),
        vectors(reinterpret_cast<uintptr_t>(of.data) % kVectorBytes == 0 &&
                of.ld % (kVectorBytes / static_cast<int64_t>(sizeof(T))) == 0) {}
};

// Starts the copies of the kRows x kCols elements at (row, col), as all of kThreads threads. Pieces
// of 16 bytes go to at(row, col) of the tile, a function that returns their address. What lies
// outside the matrix is 0 there. Pieces that are cut, or not aligned in memory, are stored at once.
template <int kRows, int kCols, int kThreads, typename T, typename At>
__device__ inline void CopyTile(const TensorSource<T>& from, int64_t row, int64_t col, At at) {
  constexpr int kPiece = kVectorBytes / static_cast<int>(sizeof(T));
  static_assert(kCols % kPiece == 0 && kRows * kCols / kPiece % kThreads == 0,
                "all threads copy the same number of pieces");
#pragma unroll
  for (int i = 0; i < kRows * kCols / kPiece / kThreads; ++i) {
    const int piece = i * kThreads + static_cast<int>(threadIdx.x);
    const int r = piece / (kCols / kPiece);
    const int c = piece % (kCols / kPiece) * kPiece;
    T* const to = at(r, c);
    const bool has_row = row + r < from.matrix.rows;
    const T* const source = from.matrix.data + (row + r) * from.matrix.ld + col + c;
    if (from.vectors && has_row && col + c + kPiece <= from.matrix.cols) {
      __pipeline_memcpy_async(to, source, kVectorBytes);
      continue;
    }
#pragma unroll
    for (int j = 0; j < kPiece; ++j) {
      to[j] = has_row && col + c + j < from.matrix.cols ? source[j] : T(0.0f);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_COPY_H_
