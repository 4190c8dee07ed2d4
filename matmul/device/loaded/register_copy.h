// Copies tiles of op(A) and op(B) to shared memory through registers: what a thread loads during
// one k step it stores at the step's end. In shared memory a tile has a row for each k, as
// tile_copy.h leaves it.
//
// A copy of 4 bytes that needs no register (cp.async) takes a multiprocessor 7 to 12 cycles for a
// warp. A load of 4 bytes takes 2 to 4, and four elements that are neighbours along m or n are
// stored as one vector.

#ifndef STRIDEWISE_MATMUL_DEVICE_LOADED_REGISTER_COPY_H_
#define STRIDEWISE_MATMUL_DEVICE_LOADED_REGISTER_COPY_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/block_tile.h"
#include "matmul/device/operand.h"
#include "matmul/device/tile_copy.h"

namespace stridewise {

// Copies, as one of kThreads threads, tiles of kTileMn x kTileK elements of the operand: the first
// one begins at (first_mn, first_k), and each following one kTileK further along k.
template <OperandLayout kLayout, int kTileMn, int kTileK, int kThreads, int kParts>
class RegisterCopier {
 public:
  static constexpr int kPitch = PitchOf(kLayout, kTileMn);

  __device__ RegisterCopier(const Operand<float>& operand, int64_t first_mn, int first_k,
                            int thread)
      : ld_(static_cast<int>(operand.ld)), vectors_(!kIsKMajor && operand.vectors) {
    mn_ = kIsKMajor  ? thread / kTileK * kVector
          : vectors_ ? thread % kVectorsOfRow * kVector
                     : thread % kTileMn;
    k_ = kIsKMajor ? thread % kTileK : vectors_ ? thread / kVectorsOfRow : thread / kTileMn;
    const int64_t mn = first_mn + mn_;
    const int64_t k = first_k + k_;
    next_ = operand.data + (kIsKMajor ? mn * operand.ld + k : k * operand.ld + mn);
  }

  // Loads part kPart of the thread's elements of the next tile, of which `extent` lies in the
  // operand.
  template <int kPart>
  __device__ void Load(const TileExtent& extent) {
    const int mn_left = extent.mn - mn_;
    const int k_left = extent.k - k_;
    if (extent.mn >= kTileMn && extent.k >= kTileK) {
      ForEach<kPart>([&](int i, int mn, int k) { values_[i] = *From(mn, k); },
                     [&](int i, int mn, int k) { LoadFour(From(mn, k), &values_[i]); });
    } else {
      ForEach<kPart>(
          [&](int i, int mn, int k) { values_[i] = mn < mn_left && k < k_left ? *From(mn, k) : 0; },
          [&](int i, int mn, int k) {
            if (mn < mn_left && k < k_left) {
              LoadFour(From(mn, k), &values_[i]);
            } else {
              values_[i] = values_[i + 1] = values_[i + 2] = values_[i + 3] = 0;
            }
          });
    }
    if (kPart == kParts - 1) next_ += kIsKMajor ? kTileK : int64_t{kTileK} * ld_;
  }

  // Stores them in `tile`, which has a row of kPitch elements for each k.
  template <int kPart>
  __device__ void Store(float* tile) const {
    float* const to = tile + k_ * kPitch + mn_;
    const auto four = [&](int i) {
      return make_float4(values_[i], values_[i + 1], values_[i + 2], values_[i + 3]);
    };
    if constexpr (kIsKMajor) {
#pragma unroll
      for (int i = 0; i < kOfPart; i += kVector) {
        *reinterpret_cast<float4*>(to + (kPart * kOfPart + i) / kVector * kGroupStep) = four(i);
      }
    } else {
      ForEach<kPart>([&](int i, int mn, int k) { to[k * kPitch + mn] = values_[i]; },
                     [&](int i, int mn, int k) {
                       *reinterpret_cast<float4*>(to + k * kPitch + mn) = four(i);
                     });
    }
  }

 private:
  static constexpr bool kIsKMajor = kLayout == OperandLayout::kKMajor;
  static constexpr int kValues = kTileMn * kTileK / kThreads;
  static constexpr int kVectorsOfRow = kTileMn / kVector;
  // Rows from one group of four of a thread to the next.
  static constexpr int kGroupStep = kThreads / kTileK * kVector;
  // k from one element, or vector, of an MN-major operand to the next.
  static constexpr int kStepK = kThreads > kTileMn ? kThreads / kTileMn : 1;
  static constexpr int kStepMn = kThreads < kTileMn ? kThreads : kTileMn;
  static constexpr int kVectorStepK = kThreads / kVectorsOfRow;
  static constexpr int kOfPart = kValues / kParts;
  static_assert(kValues % (kVector * kParts) == 0 && kThreads % kTileK == 0,
                "threads copy equal parts");
  static_assert(kThreads % kVectorsOfRow == 0 && kTileK % kVectorStepK == 0, "whole rows");

  // Calls element(i, mn, k) for each element of the part, or vector(i, mn, k) for each vector, with
  // offsets from the thread's first one.
  template <int kPart, typename Element, typename Vector>
  __device__ void ForEach(Element element, Vector vector) const {
    constexpr int kFirst = kPart * kOfPart;
    if constexpr (kIsKMajor) {
#pragma unroll
      for (int i = 0; i < kOfPart; ++i) {
        element(i, (kFirst + i) / kVector * kGroupStep + i % kVector, 0);
      }
    } else if (vectors_) {
#pragma unroll
      for (int i = 0; i < kOfPart; i += kVector) {
        vector(i, 0, (kFirst + i) / kVector * kVectorStepK);
      }
    } else {
      constexpr int kOfRow = kTileMn / kStepMn;
#pragma unroll
      for (int i = 0; i < kOfPart; ++i) {
        element(i, (kFirst + i) % kOfRow * kStepMn, (kFirst + i) / kOfRow * kStepK);
      }
    }
  }

  __device__ const float* From(int mn, int k) const {
    return next_ + (kIsKMajor ? int64_t{ld_} * mn + k : int64_t{ld_} * k + mn);
  }

  const float* next_;  // The thread's first element of the next tile.
  int ld_;
  bool vectors_;
  int mn_, k_;  // Of that element in the tile.
  float values_[kOfPart];
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_LOADED_REGISTER_COPY_H_
