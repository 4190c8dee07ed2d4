// CUDA's header of this name: everything is in cuda_runtime.h.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_VECTOR_TYPES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_VECTOR_TYPES_H_

#include "cuda_runtime.h"

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_VECTOR_TYPES_H_
