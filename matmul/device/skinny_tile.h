// The tiles of skinny.cu: what a block copies to shared memory, and what a thread multiplies.
//
// As in skinny_block.h a product is Y * X, where X has at least as many columns as Y has rows. A
// block computes a tile of 128 or 256 columns of X and a few rows of Y. X lies in shared memory as
// it lies in memory, in rows along k or along its columns, so that its copy never transposes; Y, of
// which there is less, always has its rows next to each other. All lanes of a warp load the same
// vectors of Y, in one wavefront each, and each lane its own four or eight columns of X.

#ifndef STRIDEWISE_MATMUL_DEVICE_SKINNY_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_SKINNY_TILE_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/epilogue.h"
#include "matmul/device/operand.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// X or Y, of one multiplication or of a batch.
struct SkinnyTileOperand {
  Operand<float> matrix;
  int64_t batch_stride;
};

// The kernel's argument.
struct SkinnyTileProduct {
  SkinnyTileOperand x, y;
  bool y_is_k_major;
  float* c;  // Element (row of Y, column of X) lies at row * c_row_stride + col * c_col_stride.
  int64_t c_row_stride, c_col_stride, c_batch_stride;
  Epilogue<Float32> epilogue;
  int64_t batch;
  uint32_t row_tiles;
  uint32_t parts;  // The parts of k, each computed by one of the blocks of a cluster.
  int k;
  int k_of_part;  // A multiple of 4, or all of k.
};

inline constexpr int kSkinnyExtentK = 32;  // Of a chunk, the part of k that is copied at once.

// A warp computes kWarpRows rows, and kRowWarps warps have rows of their own. The others have the
// same rows and parts of each chunk's k, called slices.
template <int kColsOfLane, int kRowsOfWarp, int kWarpsAlongRows, int kBlocks,
          OperandLayout kXLayout>
struct SkinnyForm {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarpSize;
  static constexpr int kLaneCols = kColsOfLane;  // The columns of X that a lane has, 32 apart.
  static constexpr int kCols = kLaneCols * kWarpSize;
  static constexpr int kWarpRows = kRowsOfWarp;
  static constexpr int kRowWarps = kWarpsAlongRows;
  static constexpr int kRows = kWarpRows * kRowWarps;
  static constexpr int kSlices = kWarps / kRowWarps;
  static constexpr int kBlocksPerMultiprocessor = kBlocks;
  static constexpr OperandLayout kX = kXLayout;
  static constexpr int kExtentK = kSkinnyExtentK;
  static constexpr int kStages = kLaneCols > 4 ? 2 : 3;  // Of which one is multiplied.
  static constexpr int kGatherPitch = kCols + kVector;
  static constexpr int kGatherFloats = kSlices * kRows * kGatherPitch;
  static_assert(kWarpRows % kVector == 0, "rows of Y are loaded by vectors");
};

// Starts the copy of kWidth neighbours, or of zeros where they do not exist.
template <int kWidth>
__device__ inline void CopyOrZero(float* to, const float* from, bool exists) {
  __pipeline_memcpy_async(to, from, kWidth * sizeof(float), exists ? 0 : kWidth * sizeof(float));
}

// A part of X in shared memory, behind that of Y: kExtentK k of kMn columns.
template <OperandLayout kLayout, int kMn, int kExtentK, int kThreads>
struct LargeChunk {
  static constexpr bool kKMajor = kLayout == OperandLayout::kKMajor;
  static constexpr int kRows = kKMajor ? kMn : kExtentK;
  static constexpr int kCols = kKMajor ? kExtentK : kMn;
  // With four more floats eight lanes that load vectors of neighbouring rows use each bank once.
  static constexpr int kPitch = kCols + (kKMajor ? kVector : 0);
  static constexpr int kFloats = kRows * kPitch;
  static constexpr int kFloatsOfK = kKMajor ? 0 : kPitch;  // Of one k, where that is a row.

  // Returns the number of k, from the first on, that are written where k_left exist, copied by
  // kWidth at once.
  static constexpr int64_t CopiedK(int64_t k_left, int64_t width) {
    const int64_t rows_at_once = kThreads / (kCols / width) > 1 ? kThreads / (kCols / width) : 1;
    const int64_t copied = (k_left + kVector - 1 + rows_at_once - 1) / rows_at_once * rows_at_once;
    return copied < kExtentK ? copied : kExtentK;
  }

  // Starts the copies of the chunk that begins at `from`, of which `mn_left` by `k_left` elements
  // exist. The others are 0, as far as k is below k_left rounded up to a multiple of 4.
  __device__ static void Copy(const float* from, int64_t ld, bool vectors, int mn_left, int k_left,
                              float* chunk) {
    const bool whole = mn_left >= kMn && k_left >= kExtentK;
    if (vectors) {
      whole ? CopyRows<kVector, true>(from, ld, mn_left, k_left, chunk)
            : CopyRows<kVector, false>(from, ld, mn_left, k_left, chunk);
    } else {
      whole ? CopyRows<1, true>(from, ld, mn_left, k_left, chunk)
            : CopyRows<1, false>(from, ld, mn_left, k_left, chunk);
    }
  }

 private:
  // No copy has a branch of its own: the compiler would compute shared addresses anew in each.
  template <int kWidth, bool kWhole>
  __device__ static void CopyRows(const float* from, int64_t ld, int mn_left, int k_left,
                                  float* chunk) {
    // Long rows are copied in pieces.
    constexpr int kPieces = (kCols / kWidth + kThreads - 1) / kThreads;
    constexpr int kInRow = kCols / kWidth / kPieces;
    static_assert(kThreads % kInRow == 0 && kRows % (kThreads / kInRow) == 0, "whole rows at once");
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      CopyPiece<kWidth, kWhole, kInRow>(from, ld, piece * kInRow * kWidth, mn_left, k_left, chunk);
    }
  }

  template <int kWidth, bool kWhole, int kInRow>
  __device__ static void CopyPiece(const float* from, int64_t ld, int first_col, int mn_left,
                                   int k_left, float* chunk) {
    constexpr int kRowsAtOnce = kThreads / kInRow;
    const int first_row = static_cast<int>(threadIdx.x) / kInRow;
    const int col = first_col + static_cast<int>(threadIdx.x) % kInRow * kWidth;
    float* const to = chunk + first_row * kPitch + col;
    from += first_row * ld + col;
    const int64_t step = kRowsAtOnce * ld;
    if constexpr (kWhole) {
#pragma unroll
      for (int i = 0; i < kRows / kRowsAtOnce; ++i) {
        __pipeline_memcpy_async(to + i * kRowsAtOnce * kPitch, from, kWidth * sizeof(float));
        from += step;
      }
    } else {
      // Rows of k beyond the last are not needed; of rows of X all are.
      const int rows = kKMajor ? kRows : min(k_left + kVector - 1, kRows);
      const bool col_exists = col < (kKMajor ? k_left : mn_left);
      const int rows_left = kKMajor ? mn_left : k_left;
#pragma unroll 4
      for (int row = 0; row < rows; row += kRowsAtOnce) {
        CopyOrZero<kWidth>(to + row * kPitch, from, col_exists && first_row + row < rows_left);
        from += step;
      }
    }
  }
};

// A part of Y in shared memory: kExtentK k of kRows rows, those of one k next to each other.
template <int kRows, int kExtentK, int kThreads>
struct SmallChunk {
  // An odd number of vectors, so that eight k of four rows lie in different banks.
  static constexpr int kPitch = kRows + (kRows % (2 * kVector) == 0 ? kVector : 0);
  static constexpr int kFloats = kExtentK * kPitch;

  // As LargeChunk::Copy().
  __device__ static void Copy(const float* from, int64_t ld, bool k_major, bool vectors,
                              int rows_left, int k_left, float* chunk) {
    if (k_major) {
      CopyTransposed(from, ld, rows_left, k_left, chunk);
    } else if (vectors) {
      CopyRows<kVector>(from, ld, rows_left, k_left, chunk);
    } else {
      CopyRows<1>(from, ld, rows_left, k_left, chunk);
    }
  }

 private:
  // A warp copies eight k of four rows at once, 32 bytes of each row, to different banks.
  __device__ static void CopyTransposed(const float* from, int64_t ld, int rows_left, int k_left,
                                        float* chunk) {
    constexpr int kWarpK = 8;
    constexpr int kWarpRows = kWarpSize / kWarpK;
    static_assert(kThreads / kWarpSize * kWarpK == kExtentK, "the block copies all k at once");
    const auto thread = static_cast<int>(threadIdx.x);
    const int k = thread / kWarpSize * kWarpK + thread % kWarpK;
    const int first_row = thread % kWarpSize / kWarpK;
    float* const to = chunk + k * kPitch + first_row;
    from += first_row * ld + k;
#pragma unroll
    for (int row = 0; row < kRows; row += kWarpRows) {
      CopyOrZero<1>(to + row, from, k < k_left && first_row + row < rows_left);
      from += kWarpRows * ld;
    }
  }

  template <int kWidth>
  __device__ static void CopyRows(const float* from, int64_t ld, int rows_left, int k_left,
                                  float* chunk) {
    constexpr int kInRow = kRows / kWidth;
    constexpr int kLanes = kInRow <= 1    ? 1
                           : kInRow <= 2  ? 2
                           : kInRow <= 4  ? 4
                           : kInRow <= 8  ? 8
                           : kInRow <= 16 ? 16
                           : kInRow <= 32 ? 32
                                          : 64;  // A power of two.
    static_assert(kInRow <= kLanes, "a lane for each copy of a k");
    constexpr int kAtOnce = kThreads / kLanes;
    const int row = static_cast<int>(threadIdx.x) % kLanes * kWidth;
    const int first_k = static_cast<int>(threadIdx.x) / kLanes;
    if (row >= kRows) return;
    float* const to = chunk + first_k * kPitch + row;
    from += first_k * ld + row;
    const int64_t step = kAtOnce * ld;
    const int extent_k = min(k_left + kVector - 1, kExtentK) - first_k;
#pragma unroll 4
    for (int k = 0; k < extent_k; k += kAtOnce) {
      CopyOrZero<kWidth>(to + k * kPitch, from, row < rows_left && first_k + k < k_left);
      from += step;
    }
  }
};

template <typename Form>
struct SkinnyChunks {
  using X = LargeChunk<Form::kX, Form::kCols, Form::kExtentK, Form::kThreads>;
  using Y = SmallChunk<Form::kRows, Form::kExtentK, Form::kThreads>;
  static constexpr int kStageFloats = X::kFloats + Y::kFloats;
};

// Adds the products of four k. `x` is the lane's first column in the chunk of X, and `y` the warp's
// first row in that of Y.
template <typename Form>
__device__ inline void MultiplyFour(const float* x, const float* y, int k,
                                    float (&sums)[Form::kWarpRows][Form::kLaneCols]) {
  using X = typename SkinnyChunks<Form>::X;
  using Y = typename SkinnyChunks<Form>::Y;
  float x_values[Form::kLaneCols][kVector];  // [column][k]
#pragma unroll
  for (int col = 0; col < Form::kLaneCols; ++col) {
    if constexpr (X::kKMajor) {
      LoadFour(x + col * kWarpSize * X::kPitch + k, x_values[col]);
    } else {
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        x_values[col][i] = x[(k + i) * X::kPitch + col * kWarpSize];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
#pragma unroll
    for (int row = 0; row < Form::kWarpRows; row += kVector) {
      float four[kVector];
      LoadFour(y + (k + i) * Y::kPitch + row, four);
#pragma unroll
      for (int j = 0; j < kVector; ++j) {
#pragma unroll
        for (int col = 0; col < Form::kLaneCols; ++col) {
          sums[row + j][col] = fma(four[j], x_values[col][i], sums[row + j][col]);
        }
      }
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SKINNY_TILE_H_
