// The walk of thin.cu over a long operand whose neighbours in memory are different lines: B, where
// C has few rows.

#ifndef STRIDEWISE_MATMUL_DEVICE_THIN_ACROSS_H_
#define STRIDEWISE_MATMUL_DEVICE_THIN_ACROSS_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/block_tile.h"
#include "matmul/device/thin_block.h"

namespace stridewise {

// A thread has two terms of four lines at each step. The fewer short lines there are, the less it
// costs that each block copies them: then a warp takes four terms of 32 lines, 128 bytes each, at
// once, and there are more blocks.
template <int kShort, bool kVectors>
class AcrossLines {
 public:
  static constexpr int kShortLines = kShort;
  static constexpr int kLanes = kShort <= 4 ? 8 : 2 * kShort;
  static constexpr int kLines = kLanes * kVector;
  static constexpr int kTermsOfThread = 2;
  static constexpr int kTermsOfStep = kThinThreads / kLanes * kTermsOfThread;
  using Ring = VectorRing<kTermsOfThread, kShort <= 4 ? 4 : 8>;
  using Chunk = ShortChunk<kShort, /*kTermByTerm=*/true>;
  // For Gather(), half of the sums.
  static constexpr int kGatherFloats = kThinThreads / 2 * kVector * kShort;
  static_assert(kShort <= kMostShortLines, "64 sums a thread");

  __device__ AcrossLines(const ThinProduct& product, const ThinPlace& place, int64_t index,
                         float* shared)
      : ring_(shared),
        group_(static_cast<int>(threadIdx.x) / kLanes),
        lane_(static_cast<int>(threadIdx.x) % kLanes),
        terms_left_(place.terms - group_),
        step_(kGroups * product.x.ld) {
    const int64_t line = place.first_long + lane_ * (kVectors ? kVector : 1);
    lines_left_ = static_cast<int>(min(product.x.lines - line, int64_t{kLines}));
    next_ = product.x.data + index * product.x.batch_step +
            (place.first_term + group_) * product.x.ld + line;
  }

  // Starts the copies of the next step.
  __device__ void Copy() {
#pragma unroll
    for (int i = 0; i < kTermsOfThread; ++i) {
      CopyFour<kVectors>(next_, terms_left_ > 0 ? lines_left_ : 0, kLanes, ring_.Vector(i));
      next_ += step_;
      terms_left_ -= kGroups;
    }
    ring_.Advance();
  }

  // Adds the oldest step, whose terms of the short operand begin at `y`, and starts the next one's
  // copies.
  __device__ void Add(const float* y) {
    float x[kTermsOfThread][kVector];
#pragma unroll
    for (int i = 0; i < kTermsOfThread; ++i) {
      LoadFour</*kVectors=*/true>(ring_.Vector(i), 1, x[i]);
    }
    Copy();
#pragma unroll
    for (int i = 0; i < kTermsOfThread; ++i) {
      AddTerm(x[i], y + (i * kGroups + group_) * Chunk::kPitch);
    }
  }
  static constexpr int kShortStep =
      kTermsOfStep * Chunk::kPitch;  // From one step's `y` to the next.

  // Leaves the block's sums in shared memory: half of the groups give theirs to the other half,
  // until one has them all.
  __device__ void Gather(float* shared) {
    auto* const vectors = reinterpret_cast<float4*>(shared) + lane_;
#pragma unroll 1
    for (int half = kGroups / 2; half > 0; half /= 2) {
      const int place = group_ % half * kLanes;
      if (group_ >= half && group_ < 2 * half) {
#pragma unroll
        for (int s = 0; s < kShort; ++s) {
          vectors[s * half * kLanes + place] =
              make_float4(sum_[s][0], sum_[s][1], sum_[s][2], sum_[s][3]);
        }
      }
      __syncthreads();
      if (group_ < half) {
#pragma unroll
        for (int s = 0; s < kShort; ++s) {
          float more[kVector];
          LoadFour</*kVectors=*/true>(&vectors[s * half * kLanes + place], 1, more);
#pragma unroll
          for (int i = 0; i < kVector; ++i) sum_[s][i] += more[i];
        }
      }
      __syncthreads();
    }
    if (group_ != 0) return;
#pragma unroll
    for (int s = 0; s < kShort; ++s) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        shared[s * kLines + (kVectors ? lane_ * kVector + i : lane_ + i * kLanes)] = sum_[s][i];
      }
    }
  }

 private:
  static constexpr int kGroups = kThinThreads / kLanes;  // Of threads with the same lines.

  // Adds one term, of which the short operand's begin at `y`.
  __device__ void AddTerm(const float (&x)[kVector], const float* y) {
    constexpr int kAtOnce = kShort < kVector ? kShort : kVector;
#pragma unroll
    for (int s = 0; s < kShort; s += kAtOnce) {
      float some[kAtOnce];
      if constexpr (kAtOnce == kVector) {
        LoadFour</*kVectors=*/true>(y + s, 1, some);
      } else {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) some[i] = y[i];
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
#pragma unroll
        for (int j = 0; j < kVector; ++j) sum_[s + i][j] = fma(some[i], x[j], sum_[s + i][j]);
      }
    }
  }

  Ring ring_;
  int group_, lane_;
  int terms_left_, lines_left_;  // From next_ on.
  int64_t step_;
  const float* next_;
  float sum_[kShort][kVector] = {};
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_THIN_ACROSS_H_
