// A block's tile of permute_tile.cu: its coordinate, and the tables behind it in shared memory,
// which are made once for a tile. Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_TABLES_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_TABLES_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/permute_load.h"
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

  // Of all dimensions together.
  bool exists;        // Whether the block has a tile: the numbers below are of one that has.
  int64_t corner_in;  // Bytes from the tensor to the tile's first element.
  int64_t corner_out;
  int64_t span_in;  // Bytes from the tile's first element to its last.
  int in_run;       // Elements of a run of either side.
  int out_run;
};

// Sets the part of one dimension.
__device__ inline void FindPart(const PermutePlan& plan, int dim, TilePart* part) {
  int64_t index = 0;  // Of the tile.
#pragma unroll
  for (int i = 0; i <= kMaxPermuteRank; ++i) {
    if (i >= plan.digits) break;
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

// Sets what is of all dimensions, of which FindPart() has set all. One thread does so for its
// block: all of them would spend 7 % of the instructions of tiles of bytes on it.
__device__ inline void FindCorner(const PermutePlan& plan, TilePart* part) {
  part->exists = true;
  part->corner_in = part->corner_out = part->span_in = 0;
#pragma unroll
  for (int d = 0; d < kMaxPermuteRank; ++d) {
    if (d >= plan.rank) break;
    part->exists = part->exists && part->held[d] > 0;
    part->corner_in += part->offset_in[d];
    part->corner_out += part->offset_out[d];
    part->span_in += (part->held[d] - 1) * plan.dims[d].stride_in;
  }
  part->in_run = part->out_run = 1;
  for (int i = 0; i < plan.in_run.count; ++i) part->in_run *= part->held[plan.in_run.dims[i]];
  for (int i = 0; i < plan.out_run.count; ++i) part->out_run *= part->held[plan.out_run.dims[i]];
}

// An out row of the tile.
struct OutRow {
  int64_t offset;  // In `out`, in bytes from the tile's first element.
  int shared;      // In the tile; kNoRow where the tensor has no such row.
  int next;        // The next row of its list, or kNoRow.
};

// The tables behind the tile in shared memory.
struct TileTables {
  InRow* in;
  OutRow* out;
  int* first_of_list;      // The first row of each list of out rows, or kNoRow.
  uint16_t* out_position;  // Of the elements of a packed out run in the tile, in bytes.
};

__device__ inline TileTables TablesBehind(unsigned char* tile, const PermutePlan& plan) {
  TileTables tables;
  tables.in = reinterpret_cast<InRow*>(tile + plan.tile_bytes);
  tables.out = reinterpret_cast<OutRow*>(tables.in + plan.in_rows_held);
  tables.first_of_list = reinterpret_cast<int*>(tables.out + plan.out_rows_held);
  tables.out_position = reinterpret_cast<uint16_t*>(tables.first_of_list + kMaxOutLists);
  return tables;
}

// Returns where row `row` is in the tile, or kNoRow where the tensor has no such row, and sets its
// offset in bytes from the tile's first element. `digits` are the first `count` of the plan.
__device__ inline int FindRow(const RowDigit (&digits)[kMaxPermuteRank], int count,
                              const TilePart& part, int row, int64_t* offset) {
  int shared = 0;
  bool exists = true;
  *offset = 0;
#pragma unroll
  for (int i = 0; i < kMaxPermuteRank; ++i) {
    if (i >= count) break;
    const RowDigit& d = digits[i];
    const int next = d.by_held.Quotient(row);
    const int index = row - next * d.held;
    row = next;
    exists = exists && index < part.held[d.dim];
    *offset += index * d.stride;
    shared += index * d.pitch;
  }
  return exists ? shared : kNoRow;
}

// Returns where an element of an out run is in the tile, in bytes.
__device__ inline int PositionInRun(const PermutePlan& plan, int element) {
  int shared = 0;
#pragma unroll
  for (int i = 0; i < kMaxPermuteRank; ++i) {
    if (i >= plan.out_run.count) break;
    const RowDigit& d = plan.out_element[i];
    const int next = d.by_held.Quotient(element);
    shared += (element - next * d.held) * d.pitch;
    element = next;
  }
  return shared;
}

// Sets where the elements of a packed out run are. A thread takes pieces of the run's first
// dimension, along which they are equally far apart: divisions are most of what an element costs.
__device__ inline void MakePositions(const PermutePlan& plan, uint16_t* positions) {
  const RowDigit& along = plan.out_element[0];
  const int pieces = plan.out_run_held / along.held * plan.out_pieces;
  for (int i = threadIdx.x; i < pieces; i += blockDim.x) {
    const int row = plan.by_pieces.Quotient(i);
    const int begin = (i - row * plan.out_pieces) * kPieceElements;
    const int element = row * along.held + begin;
    const int position = PositionInRun(plan, element);
#pragma unroll
    for (int k = 0; k < kPieceElements; ++k) {
      if (begin + k >= along.held) break;
      positions[element + k] = static_cast<uint16_t>(position + k * along.pitch);
    }
  }
}

// Makes the tables that loads need: `corner` is the tile's first element in `in`, and rows have
// `run_bytes`.
__device__ inline void MakeInTables(const PermutePlan& plan, const TilePart& part, intptr_t corner,
                                    int run_bytes, const TileTables& tables) {
  const int lead = static_cast<int>(corner & (kVectorBytes - 1));
  for (int i = threadIdx.x; i < plan.in_rows_held; i += blockDim.x) {
    int64_t offset;
    const int shared = FindRow(plan.in_row, plan.in_rows.count, part, i, &offset);
    const intptr_t first = corner + offset;
    const int inside = static_cast<int>(first & (kVectorBytes - 1));
    const int chunks = (inside + run_bytes + kVectorBytes - 1) / kVectorBytes;
    tables.in[i] = {first & -kVectorBytes, (lead + shared) & -kVectorBytes,
                    shared == kNoRow ? 0 : chunks};
  }
  for (int i = threadIdx.x; i < 1 << plan.log2_lists; i += blockDim.x) {
    tables.first_of_list[i] = kNoRow;
  }
}

// Makes the tables that stores need, after those and a barrier. Rows come into their lists in any
// order.
__device__ inline void MakeOutTables(const PermutePlan& plan, const TilePart& part,
                                     const TileTables& tables) {
  for (int i = threadIdx.x; i < plan.out_rows_held; i += blockDim.x) {
    OutRow row;
    row.shared = FindRow(plan.out_row, plan.out_rows.count, part, i, &row.offset);
    row.next = kNoRow;
    if (row.shared != kNoRow) {
      const int in_sector = static_cast<int>(row.offset) & (kSectorBytes - 1);
      const int list = ListOf(plan, i, in_sector >> plan.log2_class_bytes);
      row.next = atomicExch(&tables.first_of_list[list], i);
    }
    tables.out[i] = row;
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_TABLES_H_
