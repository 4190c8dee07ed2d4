// Copies 16 bytes from global to shared memory without a register between them (cp.async, sm_80).
//
// The copies go through L1 (.ca), with a hint to L2 to fetch the whole cache line (L2::128B):
// neighbours of a misaligned row share sectors, which the second finds in L1.
// __pipeline_memcpy_async() of 16 bytes bypasses L1 (.cg), which costs a ragged transpose 3 to 4
// points of a copy's speed on an H200. The .ca form needs some room for L1 beside shared memory:
// where shared memory takes 215 KB, it loses 6 points instead.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_ASYNC_COPY_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_ASYNC_COPY_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

namespace stridewise {

// Starts a copy. REQUIRES: both addresses are multiples of 16. The bytes can be read after
// WaitForCopies() and a barrier.
__device__ inline void CopyAsync16(void* shared, const void* global) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  __pipeline_memcpy_async(shared, global, 16);
#else
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(global)
               : "memory");
#endif
}

// Waits for the copies that the calling thread started.
__device__ inline void WaitForCopies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_ASYNC_COPY_H_
