// The driver's functions, as pointers, and the one of them that there is.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDATYPEDEFS_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDATYPEDEFS_H_

#include "cuda.h"
#include "simt_tensor_map.h"

typedef CUresult (*PFN_cuTensorMapEncodeTiled_v12000)(
    CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
    const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
    const cuuint32_t* element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

static_assert(sizeof(SimtTensorMap) <= sizeof(CUtensorMap), "the map has room for it");

inline CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                       void* address, const cuuint64_t* extents,
                                       const cuuint64_t* strides, const cuuint32_t* box,
                                       const cuuint32_t* element_strides,
                                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                       CUtensorMapL2promotion /*promotion*/,
                                       CUtensorMapFloatOOBfill fill) {
  // 0: subnormal numbers would become 0, which is not known here.
  constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 0, 4};
  if (type >= sizeof(kBytes) || rank > kSimtMaxTensorRank ||
      interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (element_strides[i] != 1) return CUDA_ERROR_INVALID_VALUE;
  }
  auto* const made = reinterpret_cast<SimtTensorMap*>(map);
  if (!SimtEncodeTensorMap(kBytes[type], rank, address, extents, strides, box, swizzle, made)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  made->rounds_to_tf32 = type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  return CUDA_SUCCESS;
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDATYPEDEFS_H_
