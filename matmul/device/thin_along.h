// The walk of thin.cu over a long operand whose neighbours in memory are terms of one line: A,
// where C has few columns.

#ifndef STRIDEWISE_MATMUL_DEVICE_THIN_ALONG_H_
#define STRIDEWISE_MATMUL_DEVICE_THIN_ALONG_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/block_tile.h"
#include "matmul/device/thin_block.h"

namespace stridewise {

// A thread has four terms of two or four lines at each step, and a warp 128 of them, 512 bytes of a
// line: 256 bytes of twice as many lines take fewer wavefronts, and are 1.7 times slower with 16
// short lines, since sectors are read again.
template <int kShort, bool kVectors>
class AlongTerms {
 public:
  static constexpr int kShortLines = kShort;
  static constexpr int kLinesOfThread = kShort <= 4 ? 2 : 4;
  static constexpr int kTermsOfStep = kWarpSize * kVector;
  static constexpr int kLines = kThinWarps * kLinesOfThread;
  using Ring = VectorRing<kLinesOfThread, 4>;
  using Chunk = ShortChunk<kShort, /*kTermByTerm=*/false>;
  static constexpr int kGatherFloats = kShort * kLines;
  static_assert(kShort <= kMostShortLines, "64 sums a thread");

  __device__ AlongTerms(const ThinProduct& product, const ThinPlace& place, int64_t index,
                        float* shared)
      : ring_(shared),
        lane_(static_cast<int>(threadIdx.x) % kWarpSize),
        first_line_(static_cast<int>(threadIdx.x) / kWarpSize * kLinesOfThread),
        terms_left_(place.terms - FirstTerm()),
        ld_(product.x.ld) {
    const int64_t line = place.first_long + first_line_;
    lines_left_ = static_cast<int>(min(product.x.lines - line, int64_t{kLinesOfThread}));
    next_ =
        product.x.data + index * product.x.batch_step + line * ld_ + place.first_term + FirstTerm();
  }

  // Starts the copies of the next step.
  __device__ void Copy() {
#pragma unroll
    for (int i = 0; i < kLinesOfThread; ++i) {
      CopyFour<kVectors>(next_ + i * ld_, i < lines_left_ ? terms_left_ : 0, kApart,
                         ring_.Vector(i));
    }
    next_ += kTermsOfStep;
    terms_left_ -= kTermsOfStep;
    ring_.Advance();
  }

  // Adds the oldest step, whose terms of the short operand begin at `y`, and starts the next one's
  // copies.
  __device__ void Add(const float* y) {
    float x[kLinesOfThread][kVector];
#pragma unroll
    for (int i = 0; i < kLinesOfThread; ++i) {
      LoadFour</*kVectors=*/true>(ring_.Vector(i), 1, x[i]);
    }
    Copy();
    y += FirstTerm();
#pragma unroll
    for (int s = 0; s < kShort; ++s) {
      float four[kVector];
      LoadFour<kVectors>(y + s * Chunk::kPitch, kApart, four);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
#pragma unroll
        for (int line = 0; line < kLinesOfThread; ++line) {
          float& sum = sum_[line * kShort + s];
          sum = fma(x[line][i], four[i], sum);
        }
      }
    }
  }
  static constexpr int kShortStep = kTermsOfStep;  // From one step's `y` to the next.

  // Leaves the block's sums in shared memory. While a lane has several, it gives half of them to
  // another lane and takes the other half of that one's: 62 shuffles for 64 sums, not 320.
  __device__ void Gather(float* shared) {
    int first = 0;  // Of the lane's sums, in sum_ as it was.
    AddAcross<kWarpSize / 2, kSums>(&first);
    constexpr int kLanesOfSum = kWarpSize > kSums ? kWarpSize / kSums : 1;
    constexpr int kSumsOfLane = kSums > kWarpSize ? kSums / kWarpSize : 1;
    if (lane_ % kLanesOfSum != 0) return;
#pragma unroll
    for (int i = 0; i < kSumsOfLane; ++i) {
      shared[(first + i) % kShort * kLines + first_line_ + (first + i) / kShort] = sum_[i];
    }
  }

 private:
  static constexpr int kSums = kLinesOfThread * kShort;
  static constexpr int kApart =
      kVectors ? 1 : kWarpSize;  // A thread's four terms, from each other.

  __device__ int FirstTerm() const { return kVectors ? lane_ * kVector : lane_; }

  // Adds the lane's first kCount sums to those of the lanes that differ from it in the bits of
  // kOffset and below.
  template <int kOffset, int kCount>
  __device__ void AddAcross(int* first) {
    constexpr unsigned kAll = 0xffffffff;
    if constexpr (kOffset > 0 && kCount > 1) {
      constexpr int kHalf = kCount / 2;
      const bool upper = (lane_ & kOffset) != 0;
#pragma unroll
      for (int i = 0; i < kHalf; ++i) {
        const float given = upper ? sum_[i] : sum_[i + kHalf];
        const float kept = upper ? sum_[i + kHalf] : sum_[i];
        sum_[i] = kept + __shfl_xor_sync(kAll, given, kOffset);
      }
      if (upper) *first += kHalf;
      AddAcross<kOffset / 2, kHalf>(first);
    } else if constexpr (kOffset > 0) {
      sum_[0] += __shfl_xor_sync(kAll, sum_[0], kOffset);
      AddAcross<kOffset / 2, 1>(first);
    }
  }

  Ring ring_;
  int lane_, first_line_;
  int terms_left_, lines_left_;  // From next_ on.
  int64_t ld_;
  const float* next_;
  float sum_[kSums] = {};
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_THIN_ALONG_H_
