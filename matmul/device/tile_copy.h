// Copies tiles of op(A) and op(B) from global to shared memory without a register in between
// (cp.async). In shared memory a tile has a row for each k, whichever way the operand is stored.
//
// What lies outside the operand arrives as 0. 0 * x adds nothing unless x is Inf or NaN: along k
// both operands end at the same coordinate, so that padding meets padding, and padding along m or n
// gives elements that lie outside C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_COPY_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_COPY_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "matmul/device/block_tile.h"
#include "matmul/device/operand.h"
#include "matmul/tile_limits.h"

namespace stridewise {

// The part of a tile that lies in the operand.
struct TileExtent {
  int mn;
  int k;
};

// Starts a copy of kBytes where `inside`, or else sets them to 0: one instruction, where nvcc makes
// two of the intrinsic with a number of zeros that is known at run time.
template <int kBytes>
__device__ inline void CopyAsyncOrZero(bool inside, void* to, const void* from) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  __pipeline_memcpy_async(to, from, kBytes, inside ? 0 : kBytes);
#elif __CUDA_ARCH__ >= 800
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == kVectorBytes) {
    asm volatile(
        "{\n.reg .pred outside;\nsetp.eq.s32 outside, %0, 0;\n"
        "cp.async.cg.shared.global [%1], [%2], 16, outside;\n}" ::"r"(static_cast<int>(inside)),
        "r"(address), "l"(from)
        : "memory");
  } else {
    asm volatile(
        "{\n.reg .pred outside;\nsetp.eq.s32 outside, %0, 0;\n"
        "cp.async.ca.shared.global [%1], [%2], %3, outside;\n}" ::"r"(static_cast<int>(inside)),
        "r"(address), "l"(from), "n"(kBytes)
        : "memory");
  }
#endif
}

// An address in shared memory, to which bytes can be added.
#ifdef STRIDEWISE_HOST_EXECUTOR
using CopyTarget = char*;
#else
using CopyTarget = uint32_t;
#endif

__device__ inline CopyTarget CopyTargetOf(void* shared) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  return static_cast<char*>(shared);
#else
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
#endif
}

// Starts a copy of 4 bytes if `starts`, without a branch, so that it finds its place among the fma.
__device__ inline void CopyAsyncIf(bool starts, CopyTarget to, const char* from) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  if (starts) __pipeline_memcpy_async(to, from, 4);
#elif __CUDA_ARCH__ >= 800
  asm volatile(
      "{\n.reg .pred starts;\nsetp.ne.s32 starts, %0, 0;\n"
      "@starts cp.async.ca.shared.global [%1], [%2], 4;\n}" ::"r"(static_cast<int>(starts)),
      "r"(to), "l"(from)
      : "memory");
#endif
}

// Copies, as one of kThreads threads, tiles of kTileMn x kTileK elements of the operand: the first
// one begins at (first_mn, first_k), and each following one kTileK further along k.
template <typename T, OperandLayout kLayout, int kTileMn, int kTileK, int kThreads>
class TileCopier {
 public:
  static constexpr int kPitch = PitchOf(kLayout, kTileMn);

  __device__ TileCopier(const Operand<T>& operand, int64_t first_mn, int first_k, int thread)
      : ld_(static_cast<int>(operand.ld)), vectors_(operand.vectors) {
    const bool by_vectors = !kIsKMajor && vectors_;
    const int64_t mn = first_mn + (by_vectors ? Vectors::Mn(thread) : Elements::Mn(thread));
    const int64_t k = first_k + (by_vectors ? Vectors::K(thread) : Elements::K(thread));
    next_ = operand.data + (kIsKMajor ? mn * operand.ld + k : k * operand.ld + mn);
  }

  // Starts the copies of part kPart of kParts of the next tile to `tile`, which has a row of kPitch
  // elements for each k. Is called for each part in turn. REQUIRES: the whole tile lies in the
  // operand.
  template <int kPart, int kParts>
  __device__ void CopyInside(T* tile, int thread) {
    WithCopies([&](auto copies) {
      using C = decltype(copies);
      T* const to = tile + C::K(thread) * kPitch + C::Mn(thread);
      C::template ForEach<kPart, kParts>([&](int mn, int k) {
        __pipeline_memcpy_async(to + k * kPitch + mn, From(mn, k), C::kBytes);
      });
    });
    if (kPart == kParts - 1) Advance();
  }

  // Starts all copies of a tile of which only `extent` lies in the operand.
  __device__ void CopyEdge(T* tile, int thread, const TileExtent& extent) {
    WithCopies([&](auto copies) {
      using C = decltype(copies);
      T* const to = tile + C::K(thread) * kPitch + C::Mn(thread);
      const int mn_left = extent.mn - C::Mn(thread);
      const int k_left = extent.k - C::K(thread);
      C::template ForEach<0, 1>([&](int mn, int k) {
        CopyAsyncOrZero<C::kBytes>(mn < mn_left && k < k_left, to + k * kPitch + mn, From(mn, k));
      });
    });
    Advance();
  }

  // Whether the next tile's copies are of 4 bytes.
  __device__ bool CopiesElements() const { return kIsKMajor || !vectors_; }

  // Begins the next tile, of which `extent_mn` and all of k lie in the operand, and whose copies
  // Roll() starts in kParts equal parts. What lies outside of the operand is not copied: its
  // elements stay what they were. Of a part at the edge the copies inside are started at once, so
  // that one condition serves all copies of a part: with one for each the compiler mixes the rows
  // of fma, and a pair of k takes a tenth more.
  template <int kParts>
  __device__ void BeginRolling(T* tile, int thread, int extent_mn) {
    static_assert(kIsKMajor && sizeof(T) == 4, "as Roll() copies");
    constexpr int kStep = Elements::kStepMn, kCopies = kTileMn / kStep / kParts;
    static_assert(kCopies * kParts * kStep == kTileMn, "parts are equal");
    const int mn = Elements::Mn(thread);
    from_ = reinterpret_cast<const char*>(next_);
    to_ = CopyTargetOf(tile + Elements::K(thread) * kPitch + mn);
    row_step_ = static_cast<uint32_t>(kStep * sizeof(T)) * static_cast<uint32_t>(ld_);
    Advance();
    parts_left_ = kParts;
    if (extent_mn < kTileMn) {
      const int copies = max(extent_mn - mn + kStep - 1, 0) / kStep;
      parts_left_ = copies / kCopies;
      const int first = parts_left_ * kCopies;
#pragma unroll
      for (int i = 0; i < kCopies - 1; ++i) {
        CopyAsyncIf(first + i < copies, to_ + (first + i) * kStep * sizeof(T),
                    from_ + static_cast<uint32_t>(first + i) * int64_t{row_step_});
      }
    }
  }
  // Lets Roll() start nothing.
  __device__ void RollNothing() { parts_left_ = 0; }

  // Starts the next part. Addresses are steps of one pointer, which the compiler has to take one
  // after the other: those of all copies at once need registers that it does not have.
  template <int kParts>
  __device__ void Roll() {
    constexpr int kCopies = kTileMn / Elements::kStepMn / kParts;
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      CopyAsyncIf(parts_left_ > 0, to_ + i * Elements::kStepMn * sizeof(T), from_);
      from_ += row_step_;
#ifndef STRIDEWISE_HOST_EXECUTOR
      asm volatile("" : "+l"(from_));
#endif
    }
    to_ += kCopies * Elements::kStepMn * sizeof(T);
    --parts_left_;
  }

 private:
  static constexpr bool kIsKMajor = kLayout == OperandLayout::kKMajor;

  static_assert(kTileMn <= 256 && kTileK <= 256, "see tile_limits.h");

  // A thread's copies, of kElements elements each.
  template <int kElements>
  struct Copies {
    static constexpr size_t kBytes = kElements * sizeof(T);
    // In a K-major operand a warp copies 16 elements along k of two rows: two cache lines to look
    // up, and two-way bank conflicts. 8 elements of four rows have no conflict and are 2 % slower.
    static constexpr int kWarpExtentK = 16;
    static constexpr int kWarpExtentMn = kWarpSize / kWarpExtentK;
    static constexpr int kWarpsAlongK = kTileK / kWarpExtentK;
    // In an MN-major one, a row of the tile takes this number of copies.
    static constexpr int kCopiesPerRow = kTileMn / kElements;

    static constexpr int kStepMn =
        kIsKMajor ? kThreads / kWarpSize / kWarpsAlongK * kWarpExtentMn
                  : (kThreads < kCopiesPerRow ? kThreads : kCopiesPerRow) * kElements;
    static constexpr int kStepK =
        kIsKMajor ? kTileK : (kThreads < kCopiesPerRow ? 1 : kThreads / kCopiesPerRow);
    static_assert(!kIsKMajor || kThreads / kWarpSize % kWarpsAlongK == 0, "warps fill the tile");
    static_assert(kTileMn % kStepMn == 0 && kTileK % kStepK == 0, "threads copy equal parts");
    static_assert(kTileMn / kStepMn * (kTileK / kStepK) * kElements * kThreads == kTileMn * kTileK,
                  "every element is copied once");

    // Return the coordinate of the thread's first copy in the tile.
    __device__ static int Mn(int thread) {
      return kIsKMajor ? thread / kWarpExtentK % kWarpExtentMn +
                             thread / kWarpSize / kWarpsAlongK * kWarpExtentMn
                       : thread % kCopiesPerRow * kElements;
    }
    __device__ static int K(int thread) {
      return kIsKMajor ? thread % kWarpExtentK + thread / kWarpSize % kWarpsAlongK * kWarpExtentK
                       : thread / kCopiesPerRow;
    }
    // Calls fn(mn, k) for each copy of a part of the thread's, with offsets from its first one.
    template <int kPart, int kParts, typename Fn>
    __device__ static void ForEach(Fn fn) {
      constexpr int kCopiesAlongMn = kTileMn / kStepMn;
      constexpr int kCopies = kCopiesAlongMn * (kTileK / kStepK);
#pragma unroll
      for (int i = kCopies * kPart / kParts; i < kCopies * (kPart + 1) / kParts; ++i) {
        fn(i % kCopiesAlongMn * kStepMn, i / kCopiesAlongMn * kStepK);
      }
    }
  };
  using Elements = Copies<1>;
  using Vectors = Copies<kIsKMajor ? 1 : kVectorBytes / static_cast<int>(sizeof(T))>;

  // Calls fn with the kind of copies that the operand's layout and alignment allow.
  template <typename Fn>
  __device__ void WithCopies(Fn fn) const {
    if (kIsKMajor || !vectors_) {
      fn(Elements());
    } else {
      fn(Vectors());
    }
  }

  __device__ const T* From(int mn, int k) const {
    return next_ + (kIsKMajor ? int64_t{ld_} * mn + k : int64_t{ld_} * k + mn);
  }
  __device__ void Advance() { next_ += kIsKMajor ? kTileK : int64_t{kTileK} * ld_; }

  const T* next_;  // The source of the thread's first copy of the next tile.
  int ld_;
  bool vectors_;
  // Where the copies go on that Roll() starts, the bytes from one to the next, and how many parts
  // it starts from there on.
  const char* from_;
  CopyTarget to_;
  uint32_t row_step_;
  int parts_left_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_COPY_H_
