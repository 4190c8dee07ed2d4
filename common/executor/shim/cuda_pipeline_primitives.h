// Asynchronous copies from global to shared memory (cp.async) in their C form.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_PIPELINE_PRIMITIVES_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_PIPELINE_PRIMITIVES_H_

#include <stddef.h>

#include "cuda_runtime.h"
#include "simt_entry_points.h"

SIMT_INLINE void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes,
                                         size_t zero_bytes = 0) {
  simt_cp_async(shared, global, bytes, zero_bytes);
}
SIMT_INLINE void __pipeline_commit() { simt_cp_async_commit(); }
SIMT_INLINE void __pipeline_wait_prior(size_t groups) {
  simt_cp_async_wait(static_cast<unsigned>(groups));
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_PIPELINE_PRIMITIVES_H_
