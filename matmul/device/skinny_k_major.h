// The walk of thin.cu over a K-major large operand, whose neighbours in memory lie along k: A,
// where C has few columns.

#ifndef STRIDEWISE_MATMUL_DEVICE_SKINNY_K_MAJOR_H_
#define STRIDEWISE_MATMUL_DEVICE_SKINNY_K_MAJOR_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/skinny_block.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// At each step a thread has four k of two or four columns, and a warp 128 k, 512 bytes of a column:
// 256 bytes of twice as many columns take fewer wavefronts, and are 1.7 times slower with 16 rows,
// since sectors are read again.
template <int kSkinnyRows, bool kVectors>
class KMajorWalk {
 public:
  static constexpr int kRows = kSkinnyRows;
  static constexpr int kThreadCols = kRows <= 4 ? 2 : 4;
  static constexpr int kStepK = kWarpSize * kVector;
  static constexpr int kCols = kSkinnyWarps * kThreadCols;
  // What the registers that nvcc uses, at most 64 or at most 128 a thread, leave room for.
  static constexpr int kBlocksPerMultiprocessor = kRows == 1 || (kRows == 2 && kVectors) ? 2 : 1;
  using Ring = VectorRing<kThreadCols, 4>;
  using Chunk = SkinnyChunk<kRows, /*kRowForEachK=*/false>;
  static constexpr int kGatherFloats = kRows * kCols;
  static_assert(kRows <= kMaxSkinnyRows, "64 accumulators a thread");

  __device__ KMajorWalk(const SkinnyProduct& product, const SkinnyTile& tile, int64_t index,
                        float* shared)
      : ring_(shared),
        lane_(static_cast<int>(threadIdx.x) % kWarpSize),
        first_col_(static_cast<int>(threadIdx.x) / kWarpSize * kThreadCols),
        k_left_(tile.k - FirstK()),
        ld_(product.x.ld) {
    const int64_t col = tile.first_col + first_col_;
    cols_left_ = static_cast<int>(min(product.x.cols - col, int64_t{kThreadCols}));
    next_ = product.x.data + index * product.x.batch_stride + col * ld_ + tile.first_k + FirstK();
  }

  // Starts the copies of the next step.
  __device__ void Copy() {
#pragma unroll
    for (int i = 0; i < kThreadCols; ++i) {
      CopyFour<kVectors>(next_ + i * ld_, i < cols_left_ ? k_left_ : 0, kStride, ring_.Vector(i));
    }
    next_ += kStepK;
    k_left_ -= kStepK;
    ring_.Advance();
  }

  // Multiplies the oldest step by the skinny operand, whose part begins at `y`, and starts the
  // copies of the next one.
  __device__ void Multiply(const float* y) {
    float x[kThreadCols][kVector];
#pragma unroll
    for (int i = 0; i < kThreadCols; ++i) LoadFour(ring_.Vector(i), x[i]);
    Copy();
    y += FirstK();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float four[kVector];
      if constexpr (kVectors) {
        LoadFour(y + r * Chunk::kPitch, four);
      } else {
#pragma unroll
        for (int i = 0; i < kVector; ++i) four[i] = (y + r * Chunk::kPitch)[i * kStride];
      }
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
#pragma unroll
        for (int col = 0; col < kThreadCols; ++col) {
          float& accumulator = accumulators_[col * kRows + r];
          accumulator = fma(x[col][i], four[i], accumulator);
        }
      }
    }
  }
  static constexpr int kStepOfY = kStepK;  // From one step's `y` to the next.

  // Leaves the block's sums in shared memory. While a lane has several, it gives half of them to
  // another lane and takes the other half of that one's: 62 shuffles for 64 sums, not 320.
  __device__ void Gather(float* shared) {
    int first = 0;  // The number of the lane's first sum, as accumulators_ was ordered.
    ReduceLanes<kWarpSize / 2, kAccumulators>(&first);
    constexpr int kLanesOfSum = kWarpSize > kAccumulators ? kWarpSize / kAccumulators : 1;
    constexpr int kSumsOfLane = kAccumulators > kWarpSize ? kAccumulators / kWarpSize : 1;
    if (lane_ % kLanesOfSum != 0) return;
#pragma unroll
    for (int i = 0; i < kSumsOfLane; ++i) {
      shared[(first + i) % kRows * kCols + first_col_ + (first + i) / kRows] = accumulators_[i];
    }
  }

 private:
  static constexpr int kAccumulators = kThreadCols * kRows;
  static constexpr int kStride = kVectors ? 1 : kWarpSize;  // Between a thread's four k.

  __device__ int FirstK() const { return kVectors ? lane_ * kVector : lane_; }

  // Adds the lane's first kCount accumulators to those of the lanes that differ from it in the bits
  // of kOffset and below.
  template <int kOffset, int kCount>
  __device__ void ReduceLanes(int* first) {
    constexpr unsigned kAll = 0xffffffff;
    if constexpr (kOffset > 0 && kCount > 1) {
      constexpr int kHalf = kCount / 2;
      const bool upper = (lane_ & kOffset) != 0;
#pragma unroll
      for (int i = 0; i < kHalf; ++i) {
        const float given = upper ? accumulators_[i] : accumulators_[i + kHalf];
        const float kept = upper ? accumulators_[i + kHalf] : accumulators_[i];
        accumulators_[i] = kept + __shfl_xor_sync(kAll, given, kOffset);
      }
      if (upper) *first += kHalf;
      ReduceLanes<kOffset / 2, kHalf>(first);
    } else if constexpr (kOffset > 0) {
      accumulators_[0] += __shfl_xor_sync(kAll, accumulators_[0], kOffset);
      ReduceLanes<kOffset / 2, 1>(first);
    }
  }

  Ring ring_;
  int lane_, first_col_;
  int k_left_, cols_left_;  // From next_ on.
  int64_t ld_;
  const float* next_;
  float accumulators_[kAccumulators] = {};
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SKINNY_K_MAJOR_H_
