// The driver's functions, as pointers.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDATYPEDEFS_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDATYPEDEFS_H_

#include "cuda.h"

typedef CUresult (*PFN_cuTensorMapEncodeTiled_v12000)(
    CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
    const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
    const cuuint32_t* element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDATYPEDEFS_H_
