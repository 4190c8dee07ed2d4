// Brings tiles of op(A) and op(B) from global to shared memory without a register between them
// (cp.async), whichever way the operand is stored, term by term.
//
// An operand has lines, the rows of op(A) or the columns of op(B), of as many terms each. What lies
// outside of it arrives as 0. 0 * x adds nothing unless x is Inf or NaN: along the terms both
// operands end at the same place, so that padding meets padding; lines of padding give elements
// that lie outside C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_COPY_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_COPY_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "matmul/device/block_tile.h"
#include "matmul/tile_limits.h"

namespace stridewise {

struct Operand {
  const float* data;
  int64_t ld;  // At most kMaxTileLd.
  int64_t lines;
  bool vectors;  // Every row, as stored, begins and ends at a multiple of 16 bytes.
};

// The part of a tile that lies in the operand.
struct Extent {
  int lines;
  int terms;
};

// What one of kThreads threads copies of kLines lines from `first_line`, from term `first_term` on,
// kDepth terms with each call.
template <Access kAccess, int kLines, int kDepth, int kThreads>
class TileCopier {
 public:
  static constexpr int kPitch = PitchOf(kAccess, kLines);

  __device__ TileCopier(const Operand& operand, int64_t first_line, int first_term, int thread)
      : ld_(static_cast<int>(operand.ld)), vectors_(operand.vectors) {
    const bool by_vectors = !kIsAlong && vectors_;
    const int64_t line = first_line + (by_vectors ? Vectors::Line(thread) : Elements::Line(thread));
    const int64_t term = first_term + (by_vectors ? Vectors::Term(thread) : Elements::Term(thread));
    next_ = operand.data + (kIsAlong ? line * operand.ld + term : term * operand.ld + line);
  }

  // Starts the copies of the next kDepth terms to `tile`, which has a row of kPitch floats for
  // each: part kPart of kParts of them, to be called for each in turn. All terms and lines exist.
  template <int kPart, int kParts>
  __device__ void CopyInside(float* tile, int thread) {
    ByAccess([&](auto copies) {
      using C = decltype(copies);
      float* const to = tile + C::Term(thread) * kPitch + C::Line(thread);
      C::template ForEach<kPart, kParts>([&](int line, int term) {
        __pipeline_memcpy_async(to + term * kPitch + line, From(line, term), C::kBytes);
      });
    });
    if (kPart == kParts - 1) Advance();
  }

  // The same, all at once, where only some exist. Twice the instructions.
  __device__ void CopyEdge(float* tile, int thread, const Extent& extent) {
    ByAccess([&](auto copies) {
      using C = decltype(copies);
      float* const to = tile + C::Term(thread) * kPitch + C::Line(thread);
      const int lines = extent.lines - C::Line(thread);
      const int terms = extent.terms - C::Term(thread);
      C::template ForEach<0, 1>([&](int line, int term) {
        __pipeline_memcpy_async(to + term * kPitch + line, From(line, term), C::kBytes,
                                line < lines && term < terms ? 0 : C::kBytes);
      });
    });
    Advance();
  }

 private:
  static constexpr bool kIsAlong = kAccess == Access::kAlongTerms;

  static_assert(kLines <= 256 && kDepth <= 256, "see tile_limits.h");

  // A thread's copies of kFloats floats.
  template <int kFloats>
  struct Copies {
    static constexpr size_t kBytes = kFloats * sizeof(float);
    // Along terms a warp copies 16 terms of two lines: two cache lines to look up, and two warps'
    // worth of bank conflicts. 8 terms of four lines have no conflict and are 2 % slower.
    static constexpr int kTermsOfWarp = 16;
    static constexpr int kLinesOfWarp = kWarpSize / kTermsOfWarp;
    static constexpr int kWarpsDeep = kDepth / kTermsOfWarp;
    // Across, a row of the tile is so many copies.
    static constexpr int kAcross = kLines / kFloats;

    static constexpr int kLineStep = kIsAlong ? kThreads / kWarpSize / kWarpsDeep * kLinesOfWarp
                                              : (kThreads < kAcross ? kThreads : kAcross) * kFloats;
    static constexpr int kTermStep =
        kIsAlong ? kDepth : (kThreads < kAcross ? 1 : kThreads / kAcross);
    static_assert(!kIsAlong || kThreads / kWarpSize % kWarpsDeep == 0, "warps fill the depth");
    static_assert(kLines % kLineStep == 0 && kDepth % kTermStep == 0, "threads share alike");
    static_assert(kLines / kLineStep * (kDepth / kTermStep) * kFloats * kThreads == kLines * kDepth,
                  "every element is copied once");

    // The thread's first copy in the tile.
    __device__ static int Line(int thread) {
      return kIsAlong ? thread / kTermsOfWarp % kLinesOfWarp +
                            thread / kWarpSize / kWarpsDeep * kLinesOfWarp
                      : thread % kAcross * kFloats;
    }
    __device__ static int Term(int thread) {
      return kIsAlong ? thread % kTermsOfWarp + thread / kWarpSize % kWarpsDeep * kTermsOfWarp
                      : thread / kAcross;
    }
    // Calls fn(line, term) for each of a part of the thread's copies, both counted from its first.
    template <int kPart, int kParts, typename Fn>
    __device__ static void ForEach(Fn fn) {
      constexpr int kAcrossLines = kLines / kLineStep;
      constexpr int kCopies = kAcrossLines * (kDepth / kTermStep);
#pragma unroll
      for (int i = kCopies * kPart / kParts; i < kCopies * (kPart + 1) / kParts; ++i) {
        fn(i % kAcrossLines * kLineStep, i / kAcrossLines * kTermStep);
      }
    }
  };
  using Elements = Copies<1>;
  using Vectors = Copies<kIsAlong ? 1 : kVector>;

  template <typename Fn>
  __device__ void ByAccess(Fn fn) const {
    if (kIsAlong || !vectors_) {
      fn(Elements());
    } else {
      fn(Vectors());
    }
  }

  __device__ const float* From(int line, int term) const {
    return next_ + (kIsAlong ? int64_t{ld_} * line + term : int64_t{ld_} * term + line);
  }
  __device__ void Advance() { next_ += kIsAlong ? kDepth : int64_t{kDepth} * ld_; }

  const float* next_;  // Of the thread's first copy.
  int ld_;
  bool vectors_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_COPY_H_
