// A block's tile of permute_tile.cu: its coordinate, and the tables behind it in shared memory,
// which are made once for a tile. Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_TABLES_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_TABLES_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/vectors.h"
#include "transpose/permute_plan.h"

namespace stridewise {

constexpr int kNoRow = -1;

// What a block knows of its tile, for each dimension.
struct TilePart {
  int64_t offset_in[kMaxPermuteRank];  // Bytes from the tensor to the tile.
  int64_t offset_out[kMaxPermuteRank];
  int held[kMaxPermuteRank];      // Indices that the tile holds of the tensor.
  int64_t left[kMaxPermuteRank];  // Indices from the tile's first to the tensor's last.
};

// Sets the part of one dimension.
__device__ inline void FindPart(const PermutePlan& plan, int dim, TilePart* part) {
  int64_t index = 0;  // Of the tile.
  for (int i = 0; i < plan.digits; ++i) {
    const TileDigit& digit = plan.digit[i];
    if (digit.dim != dim) continue;
    const uint32_t rest = digit.by_faster.Quotient(blockIdx.x);
    index += static_cast<int64_t>(rest - digit.by_count.Quotient(rest) * digit.count) * digit.step;
  }
  const TileDimension& d = plan.dims[dim];
  const int64_t first = index * d.tile;
  const int64_t left = d.extent - first;
  part->offset_in[dim] = first * d.stride_in;
  part->offset_out[dim] = first * d.stride_out;
  part->held[dim] = left < d.held ? static_cast<int>(left) : d.held;  // < 0: not a tile.
  part->left[dim] = left;
}

// An out row of the tile.
struct OutRow {
  int64_t offset;  // In `out`, in bytes from the tile's first element.
  int shared;      // In the tile; kNoRow where the tensor has no such row.
  int next;        // The next row of its list, or kNoRow.
};

// The tables behind the tile in shared memory.
struct TileTables {
  OutRow* out;
  int64_t* in_offset;      // Of a row in `in`, in bytes from the tile's first element.
  int* in_shared;          // Of a row in the tile; kNoRow where the tensor has no such row.
  int* first_of_list;      // The first row of each list of out rows, or kNoRow.
  uint16_t* out_position;  // Of the elements of a packed out run in the tile, in bytes.
};

__device__ inline TileTables TablesBehind(unsigned char* tile, const PermutePlan& plan) {
  TileTables tables;
  tables.out = reinterpret_cast<OutRow*>(tile + plan.tile_bytes);
  tables.in_offset = reinterpret_cast<int64_t*>(tables.out + plan.out_rows_held);
  tables.in_shared = reinterpret_cast<int*>(tables.in_offset + plan.in_rows_held);
  tables.first_of_list = tables.in_shared + plan.in_rows_held;
  tables.out_position = reinterpret_cast<uint16_t*>(tables.first_of_list + kMaxOutLists);
  return tables;
}

// Sets where row `row` is in `in` and in `out`, and in the tile.
__device__ inline int FindRow(const PermutePlan& plan, const DimensionList& list,
                              const TilePart& part, int row, int64_t TileDimension::*stride,
                              int64_t* offset) {
  int shared = 0;
  bool exists = true;
  *offset = 0;
  for (int i = 0; i < list.count; ++i) {
    const TileDimension& d = plan.dims[list.dims[i]];
    const int next = d.by_held.Quotient(row);
    const int index = row - next * d.held;
    row = next;
    exists = exists && index < part.held[list.dims[i]];
    *offset += index * (d.*stride);
    shared += index * d.pitch;
  }
  return exists ? shared : kNoRow;
}

// Returns where an element of an out run is in the tile, in bytes.
__device__ inline uint16_t PositionInRun(const PermutePlan& plan, int element) {
  int shared = 0;
  for (int i = 0; i < plan.out_run.count; ++i) {
    const TileDimension& d = plan.dims[plan.out_run.dims[i]];
    const int next = d.by_held.Quotient(element);
    shared += (element - next * d.held) * d.pitch;
    element = next;
  }
  return static_cast<uint16_t>(shared);
}

// Makes the tables that loads need.
__device__ inline void MakeInTables(const PermutePlan& plan, const TilePart& part,
                                    const TileTables& tables) {
  for (int i = threadIdx.x; i < plan.in_rows_held; i += blockDim.x) {
    tables.in_shared[i] =
        FindRow(plan, plan.in_rows, part, i, &TileDimension::stride_in, &tables.in_offset[i]);
  }
  for (int i = threadIdx.x; i < 1 << plan.log2_lists; i += blockDim.x)
    tables.first_of_list[i] = kNoRow;
}

// Makes the tables that stores need, after those and a barrier. Rows come into their lists in any
// order.
__device__ inline void MakeOutTables(const PermutePlan& plan, const TilePart& part,
                                     const TileTables& tables) {
  const int classes = kSectorBytes >> plan.log2_class_bytes;
  for (int i = threadIdx.x; i < plan.out_rows_held; i += blockDim.x) {
    OutRow row;
    row.shared = FindRow(plan, plan.out_rows, part, i, &TileDimension::stride_out, &row.offset);
    row.next = kNoRow;
    if (row.shared != kNoRow) {
      const int in_sector = static_cast<int>(row.offset) & (kSectorBytes - 1);
      const int lists_before = i & ((1 << plan.log2_lists) - classes);
      row.next =
          atomicExch(&tables.first_of_list[lists_before + (in_sector >> plan.log2_class_bytes)], i);
    }
    tables.out[i] = row;
  }
  for (int i = threadIdx.x; plan.out_packed && i < plan.out_run_held; i += blockDim.x) {
    tables.out_position[i] = PositionInRun(plan, i);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_TABLES_H_
