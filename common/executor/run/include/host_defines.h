// CUDA's header of this name: everything is in cuda_runtime.h.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_HOST_DEFINES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_HOST_DEFINES_H_

#include "cuda_runtime.h"

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_HOST_DEFINES_H_
