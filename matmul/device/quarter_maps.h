// Tiles of a matrix as the TMA loads them for tma_tile.h: first all rows 4 i of the tile, then all
// rows 4 i + 1, and so on. Lanes that have four neighbouring rows each then read rows that lie
// side by side, which in a tile of CU_TENSOR_MAP_SWIZZLE_128B are in different banks.
//
// A matrix of a multiple of four rows has one map, with a stride from row to row and one from four
// rows to the next, and one copy loads a tile. Other matrices have four maps, one of each quarter
// of the rows: the TMA knows where a quarter ends.
//
// Rows that begin anywhere are out of reach: a map could begin at the multiple of 16 bytes before a
// quarter's first row, since all rows of a quarter are equally far behind one, but the first column
// of a box must be at a multiple of 16 bytes, too (anything else is an illegal instruction).

#ifndef STRIDEWISE_MATMUL_DEVICE_QUARTER_MAPS_H_
#define STRIDEWISE_MATMUL_DEVICE_QUARTER_MAPS_H_

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

inline constexpr int kQuarters = 4;

// A kernel's argument.
struct QuarterMaps {
  CUtensorMap maps[kQuarters];  // Only the first where `single`.
  bool single;
};

// Returns whether the TMA can address the quarters of the matrices, and none is empty.
inline bool HasQuarterMaps(const ConstMatrix<float>& matrix, const MatrixCount& matrices) {
  ConstMatrix<float> quarter = matrix;
  quarter.ld *= kQuarters;
  return matrix.rows >= kQuarters && matrix.ld % kVector == 0 && HasTensorMap(quarter, matrices);
}

// Encodes the map of quarter q of the matrices: its columns, rows, quarters and matrices.
inline absl::StatusOr<CUtensorMap> QuarterMapOf(const ConstMatrix<float>& matrix,
                                                const MatrixCount& matrices, int q, bool single,
                                                uint32_t tile_rows, uint32_t tile_cols,
                                                CUtensorMapSwizzle swizzle) {
  const auto bytes = [](int64_t elements) {
    return static_cast<cuuint64_t>(elements) * sizeof(float);
  };
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(matrix.cols),
                                static_cast<cuuint64_t>(CeilDiv(matrix.rows - q, kQuarters)),
                                single ? cuuint64_t{kQuarters} : cuuint64_t{1},
                                static_cast<cuuint64_t>(matrices.count)};
  // Strides of extents of 1 are not used, but must be multiples of 16 bytes other than 0.
  const int64_t next_four = kQuarters * matrix.ld;
  const cuuint64_t strides[] = {bytes(next_four), bytes(single ? matrix.ld : next_four),
                                bytes(matrices.count == 1 ? next_four : matrices.stride)};
  const cuuint32_t box[] = {tile_cols, tile_rows / kQuarters, single ? cuuint32_t{kQuarters} : 1,
                            1};
  return EncodeTensorMap<4>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, matrix.data + q * matrix.ld, extents,
                            strides, box, swizzle);
}

// Returns the maps for tiles of `tile_rows`, a multiple of 4, by `tile_cols`. `swizzle` as for
// TensorMapOf(). REQUIRES: HasQuarterMaps(matrix, matrices).
inline absl::StatusOr<QuarterMaps> QuarterMapsOf(const ConstMatrix<float>& matrix,
                                                 const MatrixCount& matrices, uint32_t tile_rows,
                                                 uint32_t tile_cols, CUtensorMapSwizzle swizzle) {
  QuarterMaps quarters = {};
  quarters.single = matrix.rows % kQuarters == 0;
  for (int q = 0; q < (quarters.single ? 1 : kQuarters); ++q) {
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
    CopyBoxOfQuarter(quarters.maps[q], col, row / kQuarters, index, to + q * quarter_bytes,
                     barrier);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_QUARTER_MAPS_H_
