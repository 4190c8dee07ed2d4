// Describes a matrix, or a batch of them, to the tensor memory accelerator (TMA), which copies
// boxes of it.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_MAP_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_MAP_H_

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/matrix.h"
#include "common/base/return_if_error.h"
#include "common/gpu/driver_function.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// The matrices of a batch that differ: one where all multiplications read the same.
struct MatrixCount {
  int64_t count = 1;
  int64_t stride = 0;  // Elements from one to the next; 0 for one.

  MatrixCount(int64_t batch, int64_t batch_stride)
      : count(batch_stride == 0 ? 1 : batch), stride(count == 1 ? 0 : batch_stride) {}
};

// Returns whether the TMA can address the matrices: the first element lies at a multiple of 16
// bytes, rows and matrices are a multiple of that apart, and there are at least one and fewer than
// 2^31 rows, columns and matrices.
template <typename T>
bool HasTensorMap(const ConstMatrix<T>& matrix, const MatrixCount& matrices) {
  constexpr int64_t kMaxExtent = (int64_t{1} << 31) - 1;
  constexpr int64_t kMaxStrideBytes = int64_t{1} << 40;
  constexpr auto kElementBytes = static_cast<int64_t>(sizeof(T));
  return reinterpret_cast<uintptr_t>(matrix.data) % kVectorBytes == 0 &&
         matrix.ld % (kVectorBytes / kElementBytes) == 0 &&
         matrix.ld < kMaxStrideBytes / kElementBytes && matrix.rows > 0 && matrix.cols > 0 &&
         matrix.rows <= kMaxExtent && matrix.cols <= kMaxExtent &&
         matrices.stride % (kVectorBytes / kElementBytes) == 0 &&
         matrices.stride < kMaxStrideBytes / kElementBytes && matrices.count > 0 &&
         matrices.count <= kMaxExtent;
}

// Returns whether the TMA can store boxes of the matrices. It writes whole pieces of 16 bytes:
// where a row ended within one, it would write over what follows the row.
template <typename T>
bool HasStoreMap(const ConstMatrix<T>& matrix, const MatrixCount& matrices) {
  return HasTensorMap(matrix, matrices) &&
         matrix.cols % (kVectorBytes / static_cast<int64_t>(sizeof(T))) == 0;
}

// Returns the TMA's name of an element type.
template <typename T>
constexpr CUtensorMapDataType TensorMapType() {
  if constexpr (sizeof(T) == 1) return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  if constexpr (std::is_same_v<T, int>) return CU_TENSOR_MAP_DATA_TYPE_INT32;
  if constexpr (std::is_same_v<T, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  if constexpr (std::is_same_v<T, __nv_bfloat16>) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if constexpr (std::is_same_v<T, __half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}

// Encodes the map of an array of kDims dimensions, the fastest first, and of boxes of it. The
// strides are those of the dimensions behind the first, in bytes. Takes some hundred nanoseconds:
// it calls the driver, not the device.
//
// The L2 loads lines of 128 bytes as they are asked for. In pairs of them 1024 x 1024 x 1024 takes
// 10.4 us on an H200 instead of 9.9, and 2000 x 2008 x 2000, whose rows begin within lines, 46 in
// tiles of 128 x 128 instead of 39.
template <int kDims>
absl::StatusOr<CUtensorMap> EncodeTensorMap(CUtensorMapDataType type, const void* data,
                                            const cuuint64_t (&extents)[kDims],
                                            const cuuint64_t (&strides)[kDims - 1],
                                            const cuuint32_t (&box)[kDims],
                                            CUtensorMapSwizzle swizzle) {
  // Looked up once: the look-up takes longer than the call.
  static const auto& encode =
      *new auto(DriverFunction<std::remove_pointer_t<PFN_cuTensorMapEncodeTiled_v12000>>(
          "cuTensorMapEncodeTiled", 12000));
  RETURN_IF_ERROR(encode.status());
  cuuint32_t element_strides[kDims];
  std::fill_n(element_strides, kDims, 1);
  CUtensorMap map;
  const CUresult error =
      (*encode)(&map, type, kDims, const_cast<void*>(data), extents, strides, box, element_strides,
                CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS) {
    return absl::InternalError(absl::StrCat("cuTensorMapEncodeTiled: CUresult ", error));
  }
  return map;
}

// Returns the map for boxes of `box_rows` by `box_cols`, at most 256 each, which arrive row by row
// without gaps or, where `swizzle` is CU_TENSOR_MAP_SWIZZLE_128B, as rows of 128 bytes whose pieces
// of 16 bytes are exchanged. REQUIRES: HasTensorMap(matrix, matrices).
template <typename T>
absl::StatusOr<CUtensorMap> TensorMapOf(const ConstMatrix<T>& matrix, const MatrixCount& matrices,
                                        uint32_t box_rows, uint32_t box_cols,
                                        CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE,
                                        CUtensorMapDataType type = TensorMapType<T>()) {
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(matrix.cols),
                                static_cast<cuuint64_t>(matrix.rows),
                                static_cast<cuuint64_t>(matrices.count)};
  // The stride of a single matrix is not used, and must not be 0.
  const int64_t stride = matrices.count == 1 ? matrix.ld : matrices.stride;
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(matrix.ld) * sizeof(T),
                                static_cast<cuuint64_t>(stride) * sizeof(T)};
  const cuuint32_t box[] = {box_cols, box_rows, 1};
  return EncodeTensorMap<3>(type, matrix.data, extents, strides, box, swizzle);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_MAP_H_
