// Permutes dimensions through tiles in shared memory, for any order, strides and alignment. How a
// tensor is cut, and why, is said in permute_plan.h.
//
// Loads: the 16-byte chunks that lie under a row, which is a contiguous run of `in`, are copied as
// they are, including the bytes before and behind it. Stores: a tile's part of an out run begins
// at a sector, and each thread gathers 16 bytes of it. Both are those of tile_ragged.cu; what more
// dimensions add are tables in shared memory, made once for a tile: where its rows are on either
// side, and, where an out run has several dimensions, where its elements are in the tile.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/args.h"
#include "transpose/device/async_copy.h"
#include "transpose/device/gather.h"
#include "transpose/device/vectors.h"
#include "transpose/permute_args.h"
#include "transpose/permute_plan.h"

namespace stridewise {
namespace {

constexpr int kSectorBytes = 32;
constexpr int kMaxThreads = 512;
constexpr int kNoRow = -1;

// What a block knows of its tile, for each dimension.
struct TilePart {
  int64_t offset_in[kMaxPermuteRank];  // Bytes from the tensor to the tile.
  int64_t offset_out[kMaxPermuteRank];
  int held[kMaxPermuteRank];      // Indices that the tile holds of the tensor.
  int64_t left[kMaxPermuteRank];  // Indices from the tile's first to the tensor's last.
};

// The tables behind the tile in shared memory.
struct TileTables {
  int64_t* in_offset;   // Of a row in `in`, in bytes from the tile's first element.
  int64_t* out_offset;  // The same in `out`.
  int* in_shared;       // Of a row in the tile; kNoRow where the tensor has no such row.
  int* out_shared;
  uint16_t* position;  // Of the elements of an out run in the tile, in elements from the first.
};

__device__ inline TileTables TablesBehind(unsigned char* tile, const PermutePlan& plan) {
  TileTables tables;
  tables.in_offset = reinterpret_cast<int64_t*>(tile + plan.tile_bytes);
  tables.out_offset = tables.in_offset + plan.in_rows_held;
  tables.in_shared = reinterpret_cast<int*>(tables.out_offset + plan.out_rows_held);
  tables.out_shared = tables.in_shared + plan.in_rows_held;
  tables.position = reinterpret_cast<uint16_t*>(tables.out_shared + plan.out_rows_held);
  return tables;
}

// Sets the part of one dimension.
__device__ inline void FindPart(const PermutePlan& plan, int dim, TilePart* part) {
  uint32_t rest = blockIdx.x;
  int64_t index = 0;  // Of the tile.
  for (int i = 0; i < plan.digits; ++i) {
    const TileDigit& digit = plan.digit[i];
    if (digit.dim == dim) index += static_cast<int64_t>(rest % digit.count) * digit.step;
    rest /= digit.count;
  }
  const TileDimension& d = plan.dims[dim];
  const int64_t first = index * d.tile;
  const int64_t left = d.extent - first;
  part->offset_in[dim] = first * d.stride_in;
  part->offset_out[dim] = first * d.stride_out;
  part->held[dim] = left < d.held ? static_cast<int>(left) : d.held;  // < 0: not a tile.
  part->left[dim] = left;
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

__device__ inline int PositionInRun(const PermutePlan& plan, int element) {
  int shared = 0;
  for (int i = 0; i < plan.out_run.count; ++i) {
    const TileDimension& d = plan.dims[plan.out_run.dims[i]];
    const int next = d.by_held.Quotient(element);
    shared += (element - next * d.held) * d.pitch;
    element = next;
  }
  return shared;
}

// Copies the chunks under the rows. `begin` and `end` are the tensor's: of a chunk that crosses
// them, only the elements inside are copied.
template <typename T>
__device__ inline void LoadRows(const PermutePlan& plan, const TileTables& tables, intptr_t corner,
                                int run_bytes, intptr_t begin, intptr_t end, unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  const int lead = static_cast<int>(corner & (kVectorBytes - 1));
  const int chunks = plan.in_rows_held * plan.in_chunks;
#pragma unroll 4
  for (int i = threadIdx.x; i < chunks; i += blockDim.x) {
    const int row = plan.by_chunks.Quotient(i);
    const int chunk = (i - row * plan.in_chunks) * kVectorBytes;
    if (tables.in_shared[row] == kNoRow) continue;
    const intptr_t first = corner + tables.in_offset[row];
    const intptr_t from = (first & -kVectorBytes) + chunk;
    if (from >= first + run_bytes) continue;
    unsigned char* const to = tile + ((lead + tables.in_shared[row]) & -kVectorBytes) + chunk;
    if (from >= begin && from + kVectorBytes <= end) {
      CopyAsync16(to, reinterpret_cast<const void*>(from));
    } else {
      for (int k = 0; k < kVectorBytes; k += kSize) {
        if (from + k < begin || from + k >= end) continue;
        *reinterpret_cast<T*>(to + k) = *reinterpret_cast<const T*>(from + k);
      }
    }
  }
}

// The elements of an out row that a tile stores.
struct Range {
  int begin;
  int end;
};

// Returns the first element of an out row that lies at a sector.
template <typename T>
__device__ inline int AtSector(intptr_t row) {
  return (-static_cast<int>(row) & (kSectorBytes - 1)) / static_cast<int>(sizeof(T));
}

template <typename T>
__device__ inline Range StoredRange(const PermutePlan& plan, const TilePart& part, int run_held,
                                    intptr_t row) {
  if (!plan.out_shifts) return {0, run_held};
  const TileDimension& cut = plan.dims[plan.out_cut];
  Range range = {part.left[plan.out_cut] == cut.extent ? 0 : AtSector<T>(row), run_held};
  if (part.left[plan.out_cut] > cut.tile) {
    const int next = cut.tile * plan.out_cut_below;
    const int end = next + AtSector<T>(row + next * static_cast<int>(sizeof(T)));
    range.end = end < run_held ? end : run_held;
  }
  return range;
}

// Stores the tile: a warp some vectors of each of several rows at a time. kPacked: an out run has
// several dimensions.
template <typename T, bool kPacked>
__device__ inline void StoreRows(const PermutePlan& plan, const TilePart& part,
                                 const TileTables& tables, intptr_t corner, int run_held,
                                 const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  const int lane = threadIdx.x % 32;
  const int vector_of_part = lane & ((1 << plan.log2_lanes) - 1);
  const int row_of_group = lane >> plan.log2_lanes;
  const int rows_of_group = 32 >> plan.log2_lanes;
  const int groups = (plan.out_rows_held + rows_of_group - 1) / rows_of_group;
  const TileDimension& first = plan.dims[plan.out_run.dims[0]];
  const int pitch = plan.out_run.count == 0 ? 0 : first.pitch;
  // Vectors of a row start in the same bank where the pitch is an even number of elements.
  const int rotation = kSize < 4 && (pitch / kSize) % 2 == 0 ? vector_of_part : 0;
  const int warps = blockDim.x / 32;
  for (int item = threadIdx.x / 32; item < groups * plan.out_parts; item += warps) {
    const int group = plan.by_parts.Quotient(item);
    const int row = group * rows_of_group + row_of_group;
    if (row >= plan.out_rows_held || tables.out_shared[row] == kNoRow) continue;
    const int vector = ((item - group * plan.out_parts) << plan.log2_lanes) + vector_of_part;
    const intptr_t run = corner + tables.out_offset[row];
    const Range range = StoredRange<T>(plan, part, run_held, run);
    const intptr_t to = ((run + range.begin * kSize) & -kVectorBytes) + vector * kVectorBytes;
    const int element = static_cast<int>(to - run) / kSize;
    if (element >= range.end) continue;
    const unsigned char* const from = tile + tables.out_shared[row];
    if (element >= range.begin && element + kElements <= range.end) {
      if constexpr (!kPacked) {
        StoreVector(reinterpret_cast<void*>(to),
                    Gather<T>(from + element * pitch, pitch, rotation));
      } else {
        const int index = element - plan.by_first.Quotient(element) * first.held;
        if (index + kElements <= first.held) {
          StoreVector(reinterpret_cast<void*>(to),
                      Gather<T>(from + tables.position[element] * kSize, pitch, rotation));
        } else {
          T elements[kElements];
#pragma unroll
          for (int k = 0; k < kElements; ++k) {
            elements[k] = *reinterpret_cast<const T*>(from + tables.position[element + k] * kSize);
          }
          StoreVector(reinterpret_cast<void*>(to), VectorOf<T>(elements));
        }
      }
    } else {
      for (int k = 0; k < kElements; ++k) {
        if (element + k < range.begin || element + k >= range.end) continue;
        const int position = kPacked ? tables.position[element + k] * kSize : (element + k) * pitch;
        *reinterpret_cast<T*>(to + k * kSize) = *reinterpret_cast<const T*>(from + position);
      }
    }
  }
}

template <typename T, bool kPacked>
__global__ void __launch_bounds__(kMaxThreads)
    PermuteTile(const void* in, int64_t in_bytes, void* out, PermutePlan plan) {
  extern __shared__ Vector tile_memory[];
  __shared__ TilePart part;
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const int thread = threadIdx.x;
  if (thread < plan.rank) FindPart(plan, thread, &part);
  __syncthreads();
  const auto begin = reinterpret_cast<intptr_t>(in);
  intptr_t corner_in = begin;
  auto corner_out = reinterpret_cast<intptr_t>(out);
  for (int d = 0; d < plan.rank; ++d) {
    if (part.held[d] <= 0) return;  // For all threads of the block.
    corner_in += part.offset_in[d];
    corner_out += part.offset_out[d];
  }
  const TileTables tables = TablesBehind(tile, plan);
  for (int i = thread; i < plan.in_rows_held; i += blockDim.x) {
    tables.in_shared[i] =
        FindRow(plan, plan.in_rows, part, i, &TileDimension::stride_in, &tables.in_offset[i]);
  }
  for (int i = thread; i < plan.out_rows_held; i += blockDim.x) {
    tables.out_shared[i] =
        FindRow(plan, plan.out_rows, part, i, &TileDimension::stride_out, &tables.out_offset[i]);
  }
  if constexpr (kPacked) {
    for (int i = thread; i < plan.out_run_held; i += blockDim.x) {
      tables.position[i] = static_cast<uint16_t>(PositionInRun(plan, i) / int{sizeof(T)});
    }
  }
  int in_run = sizeof(T);
  for (int i = 0; i < plan.in_run.count; ++i) in_run *= part.held[plan.in_run.dims[i]];
  int out_run = 1;
  for (int i = 0; i < plan.out_run.count; ++i) out_run *= part.held[plan.out_run.dims[i]];
  __syncthreads();
  LoadRows<T>(plan, tables, corner_in, in_run, begin, begin + in_bytes, tile);
  WaitForCopies();
  __syncthreads();
  StoreRows<T, kPacked>(plan, part, tables, corner_out, out_run,
                        tile + (corner_in & (kVectorBytes - 1)));
}

// Returns the bytes from the first element of `in` to the end of the last.
int64_t SpanBytes(const PermuteArgs& args) {
  int64_t last = 0;
  for (int d = 0; d < args.rank; ++d) last += (args.dims[d].extent - 1) * args.dims[d].stride_in;
  return (last + 1) * args.element_bytes;
}

template <typename T>
LaunchStatus Run(const PermuteArgs& args, const PermutePlan& plan) {
  const auto kernel = plan.out_run.count > 1 ? PermuteTile<T, true> : PermuteTile<T, false>;
  return Launch(kernel, Grid{plan.blocks}, Block{plan.threads}, plan.shared_bytes, args.stream,
                args.in, SpanBytes(args), args.out, plan);
}

}  // namespace

LaunchStatus PermuteTiles(const PermuteArgs& args) {
  const PermutePlan plan = MakePermutePlan(args);
  switch (args.element_bytes) {
    case 1:
      return Run<uint8_t>(args, plan);
    case 2:
      return Run<uint16_t>(args, plan);
    case 4:
      return Run<uint32_t>(args, plan);
    case 8:
      return Run<uint64_t>(args, plan);
    default:
      return Run<Bits128>(args, plan);
  }
}

}  // namespace stridewise
