// What the two walks of thin.cu have in common.
//
// A product with few rows or few columns is bound by memory: 16 x 16384 x 16384 has 8 fma for each
// byte of its one large operand, and an H200 has time for 14 in what a byte takes. So that operand,
// the long one, is copied to shared memory once, each vector by the thread that multiplies it: no
// barrier, and no register for what is on its way. The other, the short one, has at most 16 lines
// (rows of op(A) or columns of op(B)), and all threads of a block use the same terms of it.
//
// C^T = op(B)^T op(A)^T, and so few columns are the same as few rows: which of A and B is the short
// operand, and what C's rows are, is only a matter of steps.

#ifndef STRIDEWISE_MATMUL_DEVICE_THIN_BLOCK_H_
#define STRIDEWISE_MATMUL_DEVICE_THIN_BLOCK_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/block_tile.h"
#include "matmul/device/tile_store.h"

namespace stridewise {

inline constexpr int kThinThreads = 512;
inline constexpr int kThinWarps = kThinThreads / kWarpSize;
inline constexpr int kMostShortLines = 16;  // Of a block: a thread has four times as many sums.

// Elements lie a step from each other in the direction that the step is called after.
struct LongOperand {
  const float* data;
  int64_t ld;
  int64_t lines;
  int64_t batch_step;
};
struct ShortOperand {
  const float* data;
  int64_t line_step, term_step;
  int64_t lines;
  int64_t batch_step;
};
// C; or, where the terms are divided, a matrix of sums for each part of them.
struct ThinResult {
  float* data;
  int64_t long_step, short_step;
  int64_t batch_step, part_step;
  Scale scale;

  __device__ void Store(int64_t offset, float sum) const {
    const float product = scale.alpha * sum;
    data[offset] = scale.beta == 0 ? product : fma(scale.beta, data[offset], product);
  }
};

// A kernel's argument.
struct ThinProduct {
  LongOperand x;
  ShortOperand y;
  ThinResult result;
  int64_t batch;
  int64_t x_tiles;       // Of as many long lines as a block has,
  int64_t y_tiles;       // and of short ones: more than one only where the product is not thin.
  int depth;             // Terms of a sum.
  int depth_of_a_block;  // All, or a multiple of 4.
};

// What a block makes: sums of so many terms, for a tile of C.
struct ThinPlace {
  int64_t first_long, first_short;
  int64_t part;
  int first_term, terms;

  // Neighbouring blocks have neighbouring long lines, or the same.
  __device__ ThinPlace(const ThinProduct& product, int64_t block, int long_lines) {
    first_short = block % product.y_tiles * kMostShortLines;
    first_long = block / product.y_tiles % product.x_tiles * long_lines;
    part = block / product.y_tiles / product.x_tiles;
    first_term = static_cast<int>(part * product.depth_of_a_block);
    terms = min(product.depth - first_term, product.depth_of_a_block);
  }
};

// A thread's vectors of the long operand, of the step that it is at and of those to come.
template <int kVectorsOfStep, int kStepsAhead>
class VectorRing {
 public:
  static constexpr int kAhead = kStepsAhead;
  static_assert(kAhead <= 9, "__pipeline_wait_prior() leaves at most 8 groups on their way");
  static constexpr int kFloats = kAhead * kVectorsOfStep * kThinThreads * kVector;

  __device__ explicit VectorRing(float* shared)
      : vectors_(reinterpret_cast<float4*>(shared) + threadIdx.x) {}

  // The oldest step's.
  __device__ float4* Vector(int i) const {
    return vectors_ + (step_ * kVectorsOfStep + i) * kThinThreads;
  }
  // The oldest step becomes the latest.
  __device__ void Advance() { step_ = step_ == kAhead - 1 ? 0 : step_ + 1; }

 private:
  float4* vectors_;
  int step_ = 0;
};

// Starts the copy of four elements that lie `apart` from each other, or of a vector. The operand
// has `left` elements from `from` on; what lies beyond is 0.
template <bool kVectors>
__device__ inline void CopyFour(const float* from, int left, int apart, float4* to) {
  if constexpr (kVectors) {
    __pipeline_memcpy_async(to, from, sizeof(float4), left > 0 ? 0 : sizeof(float4));
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      __pipeline_memcpy_async(reinterpret_cast<float*>(to) + i, from + i * apart, sizeof(float),
                              i * apart < left ? 0 : sizeof(float));
    }
  }
}

// Four elements from shared memory, `apart` from each other or a vector.
template <bool kVectors>
__device__ inline void LoadFour(const void* shared, int apart, float (&four)[kVector]) {
  if constexpr (kVectors) {
    const float4 vector = *static_cast<const float4*>(shared);
    four[0] = vector.x;
    four[1] = vector.y;
    four[2] = vector.z;
    four[3] = vector.w;
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i) four[i] = static_cast<const float*>(shared)[i * apart];
  }
}

// Terms of the short operand, of kShort lines. What does not exist is 0, and meets zeros of the
// long operand: no NaN comes of it.
template <int kShort, bool kTermByTerm>
struct ShortChunk {
  static constexpr int kTerms = kShort < 8 ? 1024 : 512;
  // A warp copies so many terms of so many lines at once: at least 32 bytes of each line, to as
  // many banks as elements.
  static constexpr int kLinesOfWarp = kShort < 4 ? kShort : 4;
  static constexpr int kTermsOfWarp = kWarpSize / kLinesOfWarp;
  static constexpr int kPitch =
      kTermByTerm ? kShort + (kShort > kVector ? kVector : 0) : kTerms + kTermsOfWarp;
  static constexpr int kFloats = (kTermByTerm ? kTerms : kShort) * kPitch;

  // Starts the copies of `terms` terms, of which the first `terms_left` exist.
  __device__ static void Copy(const ShortOperand& y, int64_t first_line, int64_t first_term,
                              int terms, int terms_left, float* chunk) {
    constexpr int kWarpsAcross = kShort / kLinesOfWarp;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int line = lane / kTermsOfWarp + warp % kWarpsAcross * kLinesOfWarp;
    const bool exists = first_line + line < y.lines;
    const float* const from = y.data + (first_line + line) * y.line_step;
    for (int term = lane % kTermsOfWarp + warp / kWarpsAcross * kTermsOfWarp; term < terms;
         term += kThinWarps / kWarpsAcross * kTermsOfWarp) {
      float* const to = chunk + (kTermByTerm ? term * kPitch + line : line * kPitch + term);
      __pipeline_memcpy_async(to, from + (first_term + term) * y.term_step, sizeof(float),
                              exists && term < terms_left ? 0 : sizeof(float));
    }
  }
};

// Stores a tile's sums, a row of kLines for each short line, along C's rows.
template <int kShort, int kLines>
__device__ inline void StoreThin(const ThinProduct& product, const ThinPlace& place, int64_t index,
                                 const float* sums) {
  const ThinResult& result = product.result;
  const int64_t first = index * result.batch_step + place.part * result.part_step;
  const bool short_rows = result.short_step == 1;
#pragma unroll 1
  for (int i = threadIdx.x; i < kShort * kLines; i += kThinThreads) {
    const int y = short_rows ? i % kShort : i / kLines;
    const int x = short_rows ? i / kShort : i % kLines;
    const int64_t long_line = place.first_long + x;
    const int64_t short_line = place.first_short + y;
    if (long_line >= product.x.lines || short_line >= product.y.lines) continue;
    result.Store(first + long_line * result.long_step + short_line * result.short_step,
                 sums[y * kLines + x]);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_THIN_BLOCK_H_
