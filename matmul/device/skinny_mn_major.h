// The walk of thin.cu over an MN-major large operand, whose neighbours in memory are different
// columns: B, where C has few rows.

#ifndef STRIDEWISE_MATMUL_DEVICE_SKINNY_MN_MAJOR_H_
#define STRIDEWISE_MATMUL_DEVICE_SKINNY_MN_MAJOR_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/skinny_block.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// At each step a thread has two k of four columns. The fewer rows the skinny operand has, the less
// it costs that each block copies it: then a warp takes four k of 32 columns, 128 bytes each, at
// once, and there are more blocks.
template <int kSkinnyRows, bool kVectors>
class MnMajorWalk {
 public:
  static constexpr int kRows = kSkinnyRows;
  static constexpr int kLanes = kRows <= 4 ? 8 : 2 * kRows;
  static constexpr int kCols = kLanes * kVector;
  static constexpr int kThreadK = 2;
  static constexpr int kStepK = kSkinnyThreads / kLanes * kThreadK;
  // What the registers that nvcc uses, at most 64 or at most 128 a thread, leave room for.
  static constexpr int kBlocksPerMultiprocessor = kRows == 1 ? 2 : 1;
  using Ring = VectorRing<kThreadK, kRows <= 4 ? 4 : 8>;
  using Chunk = SkinnyChunk<kRows, /*kRowForEachK=*/true>;
  // Gather() stages half of the accumulators.
  static constexpr int kGatherFloats = kSkinnyThreads / 2 * kVector * kRows;
  static_assert(kRows <= kMaxSkinnyRows, "64 accumulators a thread");

  __device__ MnMajorWalk(const SkinnyProduct& product, const SkinnyTile& tile, int64_t index,
                         float* shared)
      : ring_(shared),
        group_(static_cast<int>(threadIdx.x) / kLanes),
        lane_(static_cast<int>(threadIdx.x) % kLanes),
        k_left_(tile.k - group_),
        step_(kGroups * product.x.ld) {
    const int64_t col = tile.first_col + lane_ * (kVectors ? kVector : 1);
    cols_left_ = static_cast<int>(min(product.x.cols - col, int64_t{kCols}));
    next_ = product.x.data + index * product.x.batch_stride +
            (tile.first_k + group_) * product.x.ld + col;
  }

  // Starts the copies of the next step.
  __device__ void Copy() {
#pragma unroll
    for (int i = 0; i < kThreadK; ++i) {
      CopyFour<kVectors>(next_, k_left_ > 0 ? cols_left_ : 0, kLanes, ring_.Vector(i));
      next_ += step_;
      k_left_ -= kGroups;
    }
    ring_.Advance();
  }

  // Multiplies the oldest step by the skinny operand, whose part begins at `y`, and starts the
  // copies of the next one.
  __device__ void Multiply(const float* y) {
    float x[kThreadK][kVector];
#pragma unroll
    for (int i = 0; i < kThreadK; ++i) LoadFour(ring_.Vector(i), x[i]);
    Copy();
#pragma unroll
    for (int i = 0; i < kThreadK; ++i) {
      AddProducts(x[i], y + (i * kGroups + group_) * Chunk::kPitch);
    }
  }
  static constexpr int kStepOfY = kStepK * Chunk::kPitch;  // From one step's `y` to the next.

  // Leaves the block's sums in shared memory: half of the groups give theirs to the other half,
  // until one has them all.
  __device__ void Gather(float* shared) {
    auto* const vectors = reinterpret_cast<float4*>(shared) + lane_;
#pragma unroll 1
    for (int half = kGroups / 2; half > 0; half /= 2) {
      const int offset = group_ % half * kLanes;
      if (group_ >= half && group_ < 2 * half) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          StoreFour(reinterpret_cast<float*>(&vectors[r * half * kLanes + offset]),
                    accumulators_[r]);
        }
      }
      __syncthreads();
      if (group_ < half) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          float more[kVector];
          LoadFour(reinterpret_cast<const float*>(&vectors[r * half * kLanes + offset]), more);
#pragma unroll
          for (int i = 0; i < kVector; ++i) accumulators_[r][i] += more[i];
        }
      }
      __syncthreads();
    }
    if (group_ != 0) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        shared[r * kCols + (kVectors ? lane_ * kVector + i : lane_ + i * kLanes)] =
            accumulators_[r][i];
      }
    }
  }

 private:
  static constexpr int kGroups = kSkinnyThreads / kLanes;  // Of threads with the same columns.

  // Adds the products of one k, where the skinny operand's column begins at `y`.
  __device__ void AddProducts(const float (&x)[kVector], const float* y) {
    constexpr int kAtOnce = kRows < kVector ? kRows : kVector;
#pragma unroll
    for (int r = 0; r < kRows; r += kAtOnce) {
      float some[kAtOnce];
      if constexpr (kAtOnce == kVector) {
        LoadFour(y + r, some);
      } else {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) some[i] = y[i];
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
#pragma unroll
        for (int j = 0; j < kVector; ++j) {
          accumulators_[r + i][j] = fma(some[i], x[j], accumulators_[r + i][j]);
        }
      }
    }
  }

  Ring ring_;
  int group_, lane_;
  int k_left_, cols_left_;  // From next_ on.
  int64_t step_;
  const float* next_;
  float accumulators_[kRows][kVector] = {};
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SKINNY_MN_MAJOR_H_
