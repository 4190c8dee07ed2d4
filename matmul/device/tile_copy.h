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
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_COPY_H_
