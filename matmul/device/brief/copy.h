// Copies of a chunk of `brief` to shared memory without a register in between (cp.async).
//
// Vectors pass through the L1 cache, around which those of other kernels go: the four blocks of a
// multiprocessor copy the same few columns of B, or rows of A. Asked of the L2 cache by each block
// they are lines of few of its slices: 8720x12x128 made 290,000 requests, 7,800 of them of one
// slice, and took 12.1 us, now 9.0 (H200). 8720x16x128 tn, whose A passes through the L1 cache for
// nothing, takes 10.0 instead of 9.5.

#ifndef STRIDEWISE_MATMUL_DEVICE_BRIEF_COPY_H_
#define STRIDEWISE_MATMUL_DEVICE_BRIEF_COPY_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/tile_copy.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// Starts a copy of kWidth floats, 1 or kVector, where `inside`, or else sets them to 0, as
// CopyAsyncOrZero() does.
template <int kWidth>
__device__ inline void CopyBrief(bool inside, float* to, const float* from) {
#if !defined(STRIDEWISE_HOST_EXECUTOR) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (kWidth == kVector) {
    asm volatile(
        "{\n.reg .pred outside;\nsetp.eq.s32 outside, %0, 0;\n"
        "cp.async.ca.shared.global [%1], [%2], 16, outside;\n}" ::"r"(static_cast<int>(inside)),
        "r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))), "l"(from)
        : "memory");
    return;
  }
#endif
  CopyAsyncOrZero<kWidth * sizeof(float)>(inside, to, from);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_BRIEF_COPY_H_
