// 16 bytes from global to shared memory without a register between them (cp.async, sm_80).
//
// Through L1 (.ca) and with a hint to L2 to fetch the line (L2::128B): neighbours of a misaligned
// row share sectors, which the second finds in L1. __pipeline_memcpy_async() of 16 bytes goes past
// L1 (.cg), and costs a ragged transpose 3 to 4 points of a copy's speed on an H200. The .ca form
// wants shared memory to leave L1 some room: with 215 KB in use, it loses 6 points instead.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_ASYNC_COPY_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_ASYNC_COPY_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

namespace stridewise {

// Both are multiples of 16. The bytes are there after WaitForCopies() and a barrier.
__device__ inline void CopyAsync16(void* shared, const void* global) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  __pipeline_memcpy_async(shared, global, 16);
#else
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(global)
               : "memory");
#endif
}

// Waits for the thread's own copies.
__device__ inline void WaitForCopies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_ASYNC_COPY_H_
