// CUDA's runtime as whole programs on the host executor see it: the device side (shim/), the API,
// and launches. Programs are compiled with this header before their own first line, as nvcc does
// it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUDA_RUNTIME_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUDA_RUNTIME_H_

// simt_indices.h is in the place of the shim's header.
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_BUILTIN_VARIABLES_H_
#include "../../shim/cuda_runtime.h"

// The rewriter sees these words, and what they belong to.
#undef __global__
#undef __device__
#undef __host__
#undef __constant__

#include "simt_indices.h"
#include "simt_launch.h"
#include "simt_more_intrinsics.h"
#include "simt_more_vector_types.h"
#include "simt_runtime_api.h"
#include "simt_runtime_wrappers.h"
#include "simt_textures.h"

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUDA_RUNTIME_H_
