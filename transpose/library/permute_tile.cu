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
[[maybe_unused]] constexpr int kMaxThreads = 512;  // The host executor has no launch bounds.
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
  uint16_t* piece;     // Of the pieces of an out run in the tile, in elements from the first.
  uint16_t* in_piece;  // Of the elements of a piece.
};

__device__ inline TileTables TablesBehind(unsigned char* tile, const PermutePlan& plan) {
  TileTables tables;
  tables.in_offset = reinterpret_cast<int64_t*>(tile + plan.tile_bytes);
  tables.out_offset = tables.in_offset + plan.in_rows_held;
  tables.in_shared = reinterpret_cast<int*>(tables.out_offset + plan.out_rows_held);
  tables.out_shared = tables.in_shared + plan.in_rows_held;
  tables.piece = reinterpret_cast<uint16_t*>(tables.out_shared + plan.out_rows_held);
  tables.in_piece = tables.piece + plan.out_pieces;
  return tables;
}

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

// Returns where an element of an out run is in the tile, in elements.
template <typename T>
__device__ inline uint16_t PositionInRun(const PermutePlan& plan, int element) {
  int shared = 0;
  for (int i = 0; i < plan.out_run.count; ++i) {
    const TileDimension& d = plan.dims[plan.out_run.dims[i]];
    const int next = d.by_held.Quotient(element);
    shared += (element - next * d.held) * d.pitch;
    element = next;
  }
  return static_cast<uint16_t>(shared / int{sizeof(T)});
}

// Finds the elements of one out row in the tile. REQUIRES: they are asked for at most a piece after
// the first.
template <typename T, OutRun kKind>
class OutRow {
 public:
  __device__ OutRow(const PermutePlan& plan, const TileTables& tables, const unsigned char* row,
                    int pitch, int first)
      : row_(row), in_piece_(tables.in_piece), pitch_(pitch), piece_(plan.out_piece) {
    if constexpr (kKind == OutRun::kLinear) {
      index_ = first;
    } else {
      const int number = plan.by_piece.Quotient(first);
      index_ = first - number * piece_;
      this_ = tables.piece[number] * int{sizeof(T)};
      next_ = tables.piece[number + 1] * int{sizeof(T)};
    }
  }

  // Returns the address of element `k` after the first.
  __device__ const unsigned char* At(int k) const {
    if constexpr (kKind == OutRun::kLinear) return row_ + (index_ + k) * pitch_;
    const bool beyond = index_ + k >= piece_;
    const int index = index_ + k - (beyond ? piece_ : 0);
    const int within =
        kKind == OutRun::kPieces ? index * pitch_ : in_piece_[index] * int{sizeof(T)};
    return row_ + (beyond ? next_ : this_) + within;
  }

  // Returns the vector that begins with the first.
  __device__ Vector Gathered(int rotation) const {
    if constexpr (kKind != OutRun::kLinear) {
      if (kKind == OutRun::kPeriodic || index_ + kVectorElements < T >> piece_) return Picked();
    }
    return Gather<T>(At(0), GatherOffsets<T>(pitch_, rotation));
  }

 private:
  __device__ Vector Picked() const {
    T elements[kVectorElements<T>];
#pragma unroll
    for (int k = 0; k < kVectorElements<T>; ++k) elements[k] = *reinterpret_cast<const T*>(At(k));
    return VectorOf<T>(elements);
  }

  const unsigned char* row_;
  const uint16_t* in_piece_;
  int pitch_;
  int piece_;
  int index_;  // Of the first element in its piece.
  int this_ = 0;
  int next_ = 0;
};

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

// Stores the elements of a vector that are in the range, whole words of 4 bytes where it has them:
// each store costs the same, whatever its size. `from` begins with the first of the elements.
template <typename T, OutRun kKind>
__device__ inline void StoreSome(unsigned char* to, const OutRow<T, kKind>& from, int element,
                                 const Range& range) {
  constexpr int kSize = sizeof(T);
  constexpr int kInWord = kSize < 4 ? 4 / kSize : 1;
  const int before = element < range.begin ? range.begin - element : 0;
  const int end = range.end - element;
#pragma unroll
  for (int first = 0; first < kVectorElements<T>; first += kInWord) {
    if (kInWord > 1 && first >= before && first + kInWord <= end) {
      uint32_t word = 0;
#pragma unroll
      for (int k = 0; k < kInWord; ++k) {
        const auto* const at = reinterpret_cast<const T*>(from.At(first + k - before));
        word |= static_cast<uint32_t>(*at) << (8 * kSize * k % 32);
      }
      *reinterpret_cast<uint32_t*>(to + first * kSize) = word;
      continue;
    }
#pragma unroll
    for (int k = first; k < first + kInWord; ++k) {
      if (k < before || k >= end) continue;
      *reinterpret_cast<T*>(to + k * kSize) = *reinterpret_cast<const T*>(from.At(k - before));
    }
  }
}

// Stores the tile: a warp some vectors of each of several rows at a time.
template <typename T, OutRun kKind>
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
  const int pitch = plan.out_run.count == 0 ? 0 : plan.dims[plan.out_run.dims[0]].pitch;
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
    const OutRow<T, kKind> from(plan, tables, tile + tables.out_shared[row], pitch,
                                element < range.begin ? range.begin : element);
    if (element >= range.begin && element + kElements <= range.end) {
      StoreVector(reinterpret_cast<void*>(to), from.Gathered(rotation));
    } else {
      StoreSome(reinterpret_cast<unsigned char*>(to), from, element, range);
    }
  }
}

template <typename T, OutRun kKind>
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
  for (int i = thread; i < plan.out_pieces; i += blockDim.x) {
    tables.piece[i] = PositionInRun<T>(plan, i * plan.out_piece);
  }
  if constexpr (kKind == OutRun::kPeriodic) {
    for (int i = thread; i < plan.out_piece; i += blockDim.x) {
      tables.in_piece[i] = PositionInRun<T>(plan, i);
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
  StoreRows<T, kKind>(plan, part, tables, corner_out, out_run,
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
  const auto launch = [&](auto kernel) {
    return Launch(kernel, Grid{plan.blocks}, Block{plan.threads}, plan.shared_bytes, args.stream,
                  args.in, SpanBytes(args), args.out, plan);
  };
  switch (plan.out_run_kind) {
    case OutRun::kLinear:
      return launch(PermuteTile<T, OutRun::kLinear>);
    case OutRun::kPieces:
      return launch(PermuteTile<T, OutRun::kPieces>);
    default:
      return launch(PermuteTile<T, OutRun::kPeriodic>);
  }
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
