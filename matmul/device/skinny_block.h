// What the kernels of a product with few rows or few columns have in common (thin.cu).
//
// Such a product is bound by memory: 16 x 16384 x 16384 has 8 fma for each byte of its one large
// operand, and an H200 has time for 14 in what a byte takes. So the large operand is copied to
// shared memory once, each vector by the thread that multiplies it: no barrier, and no register for
// what is in flight. The other operand is skinny. All threads of a block use the same part of it.
//
// Few columns are few rows of the transpose: C^T = op(B)^T op(A)^T. So here the skinny operand Y
// has at most 16 rows in a block, the large operand X has any number of columns, and both have k:
// the result is Y * X. Which of A and B is X, and which way C lies, is a matter of strides.

#ifndef STRIDEWISE_MATMUL_DEVICE_SKINNY_BLOCK_H_
#define STRIDEWISE_MATMUL_DEVICE_SKINNY_BLOCK_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/epilogue.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

inline constexpr int kSkinnyThreads = 512;
inline constexpr int kSkinnyWarps = kSkinnyThreads / kWarpSize;
// The most rows that a block computes: a thread has four times that number of accumulators.
inline constexpr int kMaxSkinnyRows = 16;

// X. Its stored rows lie along its columns where it is MN-major, or else along k.
struct LargeOperand {
  const float* data;
  int64_t ld;
  int64_t cols;
  int64_t batch_stride;
};

// Y. Element (row, k) lies at row * row_stride + k * k_stride.
struct SkinnyOperand {
  const float* data;
  int64_t row_stride, k_stride;
  int64_t rows;
  int64_t batch_stride;
};

// C, or where k is split a matrix of partial sums for each part. Element (row, col) of the result
// lies at row * row_stride + col * col_stride.
struct SkinnyResult {
  float* data;
  int64_t col_stride, row_stride;
  int64_t batch_stride, part_stride;
  Epilogue<Float32> epilogue;

  __device__ void Store(int64_t offset, float accumulator) const {
    epilogue.Store(accumulator, data, offset);
  }
};

// A kernel's argument.
struct SkinnyProduct {
  LargeOperand x;
  SkinnyOperand y;
  SkinnyResult result;
  int64_t batch;
  int64_t col_tiles;  // Tiles of X's columns, and
  int64_t row_tiles;  // of kMaxSkinnyRows of Y's rows: above 1 only where Y is not skinny.
  int k;
  int k_of_block;  // All of k, or a multiple of 4.
};

// The tile of the result, and the part of k, that a block computes. Neighbouring blocks have
// neighbouring columns, or the same.
struct SkinnyTile {
  int64_t first_col, first_row;
  int64_t part;
  int first_k, k;

  __device__ SkinnyTile(const SkinnyProduct& product, int64_t block, int cols) {
    first_row = block % product.row_tiles * kMaxSkinnyRows;
    first_col = block / product.row_tiles % product.col_tiles * cols;
    part = block / product.row_tiles / product.col_tiles;
    first_k = static_cast<int>(part * product.k_of_block);
    k = min(product.k - first_k, product.k_of_block);
  }
};

// A thread's vectors of X in shared memory: those of the step that it multiplies and of the steps
// that are in flight.
template <int kVectorsOfStep, int kStepsAhead>
class VectorRing {
 public:
  static constexpr int kAhead = kStepsAhead;
  static_assert(kAhead <= 9, "__pipeline_wait_prior() leaves at most 8 groups in flight");
  static constexpr int kFloats = kAhead * kVectorsOfStep * kSkinnyThreads * kVector;

  __device__ explicit VectorRing(float* shared)
      : vectors_(reinterpret_cast<float4*>(shared) + threadIdx.x) {}

  // Returns vector `i` of the oldest step.
  __device__ float* Vector(int i) const {
    return reinterpret_cast<float*>(vectors_ + (step_ * kVectorsOfStep + i) * kSkinnyThreads);
  }

  // Makes the oldest step the latest.
  __device__ void Advance() { step_ = step_ == kAhead - 1 ? 0 : step_ + 1; }

 private:
  float4* vectors_;
  int step_ = 0;
};

// Starts the copy of four elements that are `stride` apart, or with kVectors of a vector. The
// operand has `left` elements from `from` on; beyond them 0 is copied.
template <bool kVectors>
__device__ inline void CopyFour(const float* from, int left, int stride, float* to) {
  if constexpr (kVectors) {
    __pipeline_memcpy_async(to, from, kVectorBytes, left > 0 ? 0 : kVectorBytes);
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      __pipeline_memcpy_async(to + i, from + i * stride, sizeof(float),
                              i * stride < left ? 0 : sizeof(float));
    }
  }
}

// A part of Y along k in shared memory, of kRows rows. What does not exist is 0 and is multiplied
// by zeros of X, so that no NaN comes of it. With kRowForEachK the chunk has a row for each k, or
// else one for each row of Y.
template <int kRows, bool kRowForEachK>
struct SkinnyChunk {
  static constexpr int kExtentK = kRows < 8 ? 1024 : 512;
  // A warp copies kWarpExtentK elements of kWarpRows rows at once: at least 32 bytes of each row,
  // each to a bank of its own.
  static constexpr int kWarpRows = kRows < 4 ? kRows : 4;
  static constexpr int kWarpExtentK = kWarpSize / kWarpRows;
  static constexpr int kPitch =
      kRowForEachK ? kRows + (kRows > kVector ? kVector : 0) : kExtentK + kWarpExtentK;
  static constexpr int kFloats = (kRowForEachK ? kExtentK : kRows) * kPitch;

  // Starts the copies of `extent_k` elements of each row from (first_row, first_k) on, of which the
  // first `k_left` exist.
  __device__ static void Copy(const SkinnyOperand& y, int64_t first_row, int64_t first_k,
                              int extent_k, int k_left, float* chunk) {
    constexpr int kWarpsAlongRows = kRows / kWarpRows;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int row = lane / kWarpExtentK + warp % kWarpsAlongRows * kWarpRows;
    const bool exists = first_row + row < y.rows;
    const float* const from = y.data + (first_row + row) * y.row_stride;
    for (int k = lane % kWarpExtentK + warp / kWarpsAlongRows * kWarpExtentK; k < extent_k;
         k += kSkinnyWarps / kWarpsAlongRows * kWarpExtentK) {
      float* const to = chunk + (kRowForEachK ? k * kPitch + row : row * kPitch + k);
      __pipeline_memcpy_async(to, from + (first_k + k) * y.k_stride, sizeof(float),
                              exists && k < k_left ? 0 : sizeof(float));
    }
  }
};

// Stores a tile's sums, kRows rows of kCols in shared memory, in the order in which C lies.
template <int kRows, int kCols>
__device__ inline void StoreSkinny(const SkinnyProduct& product, const SkinnyTile& tile,
                                   int64_t index, const float* sums) {
  const SkinnyResult& result = product.result;
  const int64_t first = index * result.batch_stride + tile.part * result.part_stride;
  const bool transposed = result.row_stride == 1;
#pragma unroll 1
  for (int i = threadIdx.x; i < kRows * kCols; i += kSkinnyThreads) {
    const int y = transposed ? i % kRows : i / kCols;
    const int x = transposed ? i / kRows : i % kCols;
    const int64_t col = tile.first_col + x;
    const int64_t row = tile.first_row + y;
    if (col >= product.x.cols || row >= product.y.rows) continue;
    result.Store(first + col * result.col_stride + row * result.row_stride, sums[y * kCols + x]);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SKINNY_BLOCK_H_
