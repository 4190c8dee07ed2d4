// Lets the TMA load tiles of a matrix whose rows begin anywhere.
//
// The TMA takes matrices whose rows are a multiple of 16 bytes apart. Every fourth row of any
// matrix of floats is: so a matrix is described as four, its quarters, of the rows 4 i + q. A
// quarter's first row may begin up to three elements behind a multiple of 16 bytes. Its map begins
// at the multiple, and its columns are counted from there: boxes may begin at any column, and no
// box reads the elements before the matrix. A tile arrives as four boxes, with the rows of each
// quarter one after the other.
//
// Where all rows are aligned and there is a multiple of four of them, one map of three strides
// describes all quarters, and one copy loads a tile.

#ifndef STRIDEWISE_MATMUL_DEVICE_QUARTER_MAPS_H_
#define STRIDEWISE_MATMUL_DEVICE_QUARTER_MAPS_H_

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/gpu/driver_function.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

inline constexpr int kQuarters = 4;

// A kernel's argument.
struct QuarterMaps {
  CUtensorMap maps[kQuarters];  // Only the first where `single`.
  int first_col[kQuarters];     // The matrix's first column, as the map counts columns.
  bool single;
};

// Returns whether the TMA can address the quarters of the matrices: their rows and matrices are
// near enough to each other, matrices are a multiple of 16 bytes apart, and no quarter is empty.
inline bool HasQuarterMaps(const ConstMatrix<float>& matrix, const MatrixCount& matrices) {
  return matrix.rows >= kQuarters &&
         HasTensorMap(
             ConstMatrix<float>{nullptr, matrix.rows, matrix.cols + kVector, kQuarters * matrix.ld},
             matrices);
}

// Encodes the map of quarter q of the matrices: its columns, rows, quarters and matrices.
inline absl::StatusOr<CUtensorMap> QuarterMapOf(const ConstMatrix<float>& matrix,
                                                const MatrixCount& matrices, int q, bool single,
                                                uint32_t tile_rows, uint32_t tile_cols,
                                                CUtensorMapSwizzle swizzle) {
  // Looked up once: the look-up takes longer than the call.
  static const auto& encode =
      *new auto(DriverFunction<std::remove_pointer_t<PFN_cuTensorMapEncodeTiled_v12000>>(
          "cuTensorMapEncodeTiled", 12000));
  RETURN_IF_ERROR(encode.status());
  const auto row = reinterpret_cast<uintptr_t>(matrix.data + q * matrix.ld);
  const uintptr_t past = row % kVectorBytes;
  const auto bytes = [](int64_t elements) {
    return static_cast<cuuint64_t>(elements) * sizeof(float);
  };
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(matrix.cols) + past / sizeof(float),
                                static_cast<cuuint64_t>(CeilDiv(matrix.rows - q, kQuarters)),
                                single ? cuuint64_t{kQuarters} : cuuint64_t{1},
                                static_cast<cuuint64_t>(matrices.count)};
  // Strides of extents of 1 are not used, but must be multiples of 16 bytes other than 0.
  const int64_t next_four = kQuarters * matrix.ld;
  const cuuint64_t strides[] = {bytes(next_four), bytes(single ? matrix.ld : next_four),
                                bytes(matrices.count == 1 ? next_four : matrices.stride)};
  const cuuint32_t box[] = {tile_cols, tile_rows / kQuarters, single ? cuuint32_t{kQuarters} : 1,
                            1};
  const cuuint32_t element_strides[] = {1, 1, 1, 1};
  CUtensorMap map;
  const CUresult error =
      (*encode)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4,
                reinterpret_cast<void*>(row - past),  // NOLINT(performance-no-int-to-ptr)
                extents, strides, box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS) {
    return absl::InternalError(absl::StrCat("cuTensorMapEncodeTiled: CUresult ", error));
  }
  return map;
}

// Returns the maps for tiles of `tile_rows`, a multiple of 4, by `tile_cols`. `swizzle` as for
// TensorMapOf(). REQUIRES: HasQuarterMaps(matrix, matrices).
inline absl::StatusOr<QuarterMaps> QuarterMapsOf(const ConstMatrix<float>& matrix,
                                                 const MatrixCount& matrices, uint32_t tile_rows,
                                                 uint32_t tile_cols, CUtensorMapSwizzle swizzle) {
  QuarterMaps quarters = {};
  quarters.single = matrix.rows % kQuarters == 0 && matrix.ld % kVector == 0 &&
                    reinterpret_cast<uintptr_t>(matrix.data) % kVectorBytes == 0;
  for (int q = 0; q < (quarters.single ? 1 : kQuarters); ++q) {
    quarters.first_col[q] = static_cast<int>(
        reinterpret_cast<uintptr_t>(matrix.data + q * matrix.ld) % kVectorBytes / sizeof(float));
    ASSIGN_OR_RETURN(quarters.maps[q], QuarterMapOf(matrix, matrices, q, quarters.single, tile_rows,
                                                    tile_cols, swizzle));
  }
  return quarters;
}

// Starts the copy of a box of `map`, as CopyBox(), whose third coordinate is 0.
__device__ inline void CopyBoxOfQuarter(const CUtensorMap& map, int x, int y, int index,
                                        uint32_t to, Mbarrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(0), "r"(index), "r"(SharedAddress(&barrier))
      : "memory");
}

// Starts the copies of the tile of matrix `index` that begins at (row, col), where row is a
// multiple of 4. The quarters are `quarter_bytes` apart in shared memory.
__device__ inline void CopyQuarters(const QuarterMaps& quarters, int row, int col, int index,
                                    uint32_t to, uint32_t quarter_bytes, Mbarrier& barrier) {
  if (quarters.single) {
    CopyBoxOfQuarter(quarters.maps[0], col, row / kQuarters, index, to, barrier);
    return;
  }
#pragma unroll
  for (int q = 0; q < kQuarters; ++q) {
    CopyBoxOfQuarter(quarters.maps[q], col + quarters.first_col[q], row / kQuarters, index,
                     to + q * quarter_bytes, barrier);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_QUARTER_MAPS_H_
