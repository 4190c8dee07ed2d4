// CUDA's header also has a C++ class, nvcuda::experimental::pipeline, which is not here.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_PIPELINE_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_PIPELINE_H_
