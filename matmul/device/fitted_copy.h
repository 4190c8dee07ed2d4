// Copies parts of op(A) and op(B) to tiles whose extents are known at run time (fitted_tile.h),
// without a register in between (cp.async).
//
// Along m and n nothing is copied from outside the operand: the kernel clears the stages first.
// Along k, what lies outside arrives as 0 up to an even number of rows.

#ifndef STRIDEWISE_MATMUL_DEVICE_FITTED_COPY_H_
#define STRIDEWISE_MATMUL_DEVICE_FITTED_COPY_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/operand.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// Starts a copy of kBytes where `condition`; the bytes behind the first `bytes` become 0. A
// predicate instead of the branch that nvcc makes of the intrinsic: a copy takes half the time.
template <int kBytes>
__device__ inline void CopyAsyncIf(bool condition, float* to, const float* from, int bytes) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  if (condition) __pipeline_memcpy_async(to, from, kBytes, kBytes - bytes);
#elif __CUDA_ARCH__ >= 800
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == kVectorBytes) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %0, 0;\n"
        "@p cp.async.cg.shared.global [%1], [%2], 16, %3;\n}" ::"r"(static_cast<int>(condition)),
        "r"(address), "l"(from), "r"(bytes)
        : "memory");
  } else {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %0, 0;\n"
        "@p cp.async.ca.shared.global [%1], [%2], 4, %3;\n}" ::"r"(static_cast<int>(condition)),
        "r"(address), "l"(from), "r"(bytes)
        : "memory");
  }
#endif
}

// The rows of a step's tile that are copied, and those of them that lie in the operand.
struct FittedStep {
  int rows;
  int inside;
};

// A thread's copies of one operand's tiles, one step after the other.
template <typename Tile>
class FittedCopier {
 public:
  // `first` is the element at which the tile begins at k = 0, `extent` what of the tile lies in the
  // operand, and `offset` where the operand lies in a row of a stage.
  __device__ FittedCopier(const Operand<float>& operand, const float* first, bool k_major,
                          int extent, int log_lanes, int offset, int thread)
      : ld_(static_cast<int>(operand.ld)),
        extent_(extent),
        log_lanes_(log_lanes),
        k_major_(k_major),
        vectors_(operand.vectors) {
    const int warp = thread / kWarpSize;
    const int lane = thread % kWarpSize;
    int mn;
    if (k_major) {
      first_k_ = lane % kWarpExtentK;
      mn = warp * kWarpExtentMn + lane / kWarpExtentK;
      next_ = first + (operand.ld * mn + first_k_);
    } else {
      first_k_ = (warp << (5 - log_lanes)) + (lane >> log_lanes);
      mn = (lane & ((1 << log_lanes) - 1)) * (vectors_ ? kVector : 1);
      next_ = first + (operand.ld * first_k_ + mn);
    }
    target_ = offset + first_k_ * Tile::kPitch + mn;
    left_ = extent - mn;
  }

  // Starts the copies of the next step to `stage`.
  __device__ void Copy(const FittedStep& step, float* stage) {
    if (k_major_) {
      CopyAlongK(step, stage + target_);
      next_ += Tile::kStepK;
    } else {
      if (vectors_) {
        CopyRows<kVector>(step, stage + target_);
      } else {
        CopyRows<1>(step, stage + target_);
      }
      next_ += int64_t{ld_} * Tile::kStepK;
    }
  }

 private:
  // As in tile_copy.h: a warp copies 16 elements along k of two rows.
  static constexpr int kWarpExtentK = 16;
  static constexpr int kWarpExtentMn = kWarpSize / kWarpExtentK;

  // Of a K-major operand.
  __device__ void CopyAlongK(const FittedStep& step, float* to) const {
    constexpr int kAtOnce = 4;
    constexpr int kMnStep = kWarpExtentMn * Tile::kWarps;
    constexpr int kBytes = static_cast<int>(sizeof(float));
#pragma unroll
    for (int k = 0; k < Tile::kStepK; k += kWarpExtentK) {
      const float* from = next_ + k;
      float* row = to + k * Tile::kPitch;
      const int bytes = first_k_ + k < step.inside ? kBytes : 0;
      int left = first_k_ + k < step.rows ? left_ : 0;
#pragma unroll 1
      for (int mn = 0; mn < extent_; mn += kAtOnce * kMnStep) {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          CopyAsyncIf<kBytes>(left > i * kMnStep, row + i * kMnStep,
                              from + int64_t{ld_} * (i * kMnStep), bytes);
        }
        from += int64_t{ld_} * (kAtOnce * kMnStep);
        row += kAtOnce * kMnStep;
        left -= kAtOnce * kMnStep;
      }
    }
  }

  // Of an MN-major operand, kWidth elements at a time.
  template <int kWidth>
  __device__ void CopyRows(const FittedStep& step, float* to) const {
    constexpr int kAtOnce = 16 / kWidth > 4 ? 4 : 2;
    constexpr int kBytes = kWidth * static_cast<int>(sizeof(float));
    constexpr int kWarpMn = kWidth * kWarpSize;
    const int k_step = Tile::kWarps << (5 - log_lanes_);
    const int64_t from_step = int64_t{ld_} * k_step;
    const float* from = next_;
    if (extent_ <= kWarpMn) {  // One copy for each row.
      const bool has_one = left_ > 0;
#pragma unroll 2
      for (int k = first_k_; k < step.rows; k += k_step) {
        CopyAsyncIf<kBytes>(has_one, to, from, k < step.inside ? kBytes : 0);
        from += from_step;
        to += k_step * Tile::kPitch;
      }
      return;
    }
#pragma unroll 1
    for (int k = first_k_; k < step.rows; k += k_step) {
      const int bytes = k < step.inside ? kBytes : 0;
#pragma unroll 1
      for (int mn = 0; mn < extent_; mn += kAtOnce * kWarpMn) {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          CopyAsyncIf<kBytes>(left_ - mn > i * kWarpMn, to + mn + i * kWarpMn,
                              from + mn + i * kWarpMn, bytes);
        }
      }
      from += from_step;
      to += k_step * Tile::kPitch;
    }
  }

  const float* next_;  // The thread's first element of the next step.
  int target_;         // Where it lies in a stage.
  int first_k_;        // Its k in the step.
  int left_;           // The elements of the tile from it on, along m or n.
  int ld_;
  int extent_;
  int log_lanes_;
  bool k_major_;
  bool vectors_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_FITTED_COPY_H_
