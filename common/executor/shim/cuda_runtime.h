// The device side of CUDA C++ for the host executor. Kernels are compiled with this directory first
// in the include path, and with this header before their own first line, as nvcc does it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_RUNTIME_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_RUNTIME_H_

#include <math.h>  // As the C++ header has it: fma(float, float, float) is in the global namespace.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memory>  // Writes __attribute__((__noinline__)), so it must come before the macro below.

#include "common/gpu/cuda_handles.h"

// Device code is compiled as that of an H200, whose instructions the executor interprets.
#define __CUDA_ARCH__ 900
#define __CUDA_ARCH_FEAT_SM90_ALL 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))

// Kernels are compiled with emulated thread-local storage, so every __shared__ variable is asked
// for through a function of the runtime, which gives each block its own. thread_local is allowed
// where CUDA allows __shared__, `extern __shared__ T name[]` included.
#define __shared__ thread_local

// What makes the shim leave no functions of its own in a kernel's object file.
#define SIMT_INLINE inline __attribute__((always_inline))

#include "simt_atomics.h"
#include "simt_builtin_variables.h"
#include "simt_intrinsics.h"
#include "simt_ptx.h"
#include "simt_vector_types.h"
#include "simt_warp.h"

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_RUNTIME_H_
