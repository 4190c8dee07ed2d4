// Permutes dimensions where a short run of `out` ends where the innermost dimension of `in` goes on
// (permute_joined_plan.h): transposes of few rows, in batches of any dimensions. Rows are loaded as
// in permute_flat.cu; what is stored are contiguous parts of whole columns that are joined. A
// vector of `out` begins at any row of a column and goes on with the next ones: the table of where
// rows begin in the tile goes on, too, with the same rows one column further.
//
// permute_tile.cu stores the same run with a table of all its elements and ends where a tile ends.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/async_copy.h"
#include "transpose/device/flat_offset.h"
#include "transpose/device/flat_store.h"
#include "transpose/device/permute_load.h"
#include "transpose/device/vectors.h"
#include "transpose/element_size.h"
#include "transpose/permute_args.h"
#include "transpose/permute_joined_plan.h"

namespace stridewise {
namespace {

[[maybe_unused]] constexpr int kMaxThreads = 256;  // The host executor has no launch bounds.

// The block's tile.
struct JoinedTile {
  uint32_t first_column;
  int columns;
  int64_t in;  // Bytes from the tensor to the tile's first element.
  int64_t out;
};

__device__ inline JoinedTile FindTile(const PermuteJoinedPlan& plan, int size) {
  const uint32_t matrix = plan.by_column_tiles.Quotient(blockIdx.x);
  const uint32_t column_tile = blockIdx.x - matrix * plan.column_tiles;
  const uint32_t unit = plan.by_pieces.Quotient(column_tile);
  const uint32_t piece = column_tile - unit * plan.pieces;
  JoinedTile tile;
  tile.first_column = unit * plan.period + piece * plan.tile_columns;
  const uint32_t of_unit = (unit + 1) * plan.period;
  const uint32_t end = of_unit < plan.columns.extent ? of_unit : plan.columns.extent;
  const uint32_t left = end - tile.first_column;
  const auto most = static_cast<uint32_t>(plan.tile_columns);
  tile.columns = static_cast<int>(left < most ? left : most);
  tile.in = OffsetOf(plan.batch, &FlatDigit::stride_in, matrix) + int64_t{tile.first_column} * size;
  tile.out = OffsetOf(plan.batch, &FlatDigit::stride_out, matrix);
  return tile;
}

// The parts of `out` in shared memory, element by element.
template <typename T>
class JoinedColumns {
 public:
  static constexpr int kElements = kVectorElements<T>;

  __device__ JoinedColumns(const PermuteJoinedPlan& plan, const RowPlaces<T>& places,
                           const unsigned char* tile)
      : plan_(plan), places_(places), tile_(tile) {}

  // Returns the column of an element of a part, and its row.
  __device__ int ColumnOf(int index) const { return plan_.by_rows.Quotient(index); }
  __device__ int RowOf(int index, int column) const {
    return index - column * static_cast<int>(plan_.rows.extent);
  }
  __device__ const unsigned char* ColumnAt(int part, int column) const {
    return tile_ + (part * plan_.joined_columns + column) * static_cast<int>(sizeof(T));
  }
  __device__ T ElementAt(int part, int index) const {
    const int column = ColumnOf(index);
    return *reinterpret_cast<const T*>(ColumnAt(part, column) + places_[RowOf(index, column)]);
  }
  // Returns the elements at pieces' places of the vector whose first element is `first`, which is
  // negative where the part begins inside the vector.
  __device__ Vector PiecesAt(int part, int first, const Pieces<T>& pieces) const {
    const int column = first < 0 ? 0 : ColumnOf(first);
    const int row = RowOf(first, column);
    int place[kElements];
#pragma unroll
    for (int k = 0; k < kElements; ++k) place[k] = places_[row + pieces.ElementOf(k)];
    return GatherAt<T>(ColumnAt(part, column), place);
  }

 private:
  const PermuteJoinedPlan& plan_;
  const RowPlaces<T>& places_;
  const unsigned char* tile_;
};

// Stores the vectors that lie inside of `count` parts of `elements` elements each.
template <typename T>
__device__ inline void StoreOneByOne(const PermuteJoinedPlan& plan, const JoinedColumns<T>& from,
                                     const RowPlaces<T>& places, const intptr_t* parts, int count,
                                     int elements) {
  constexpr int kElements = kVectorElements<T>;
#pragma unroll 2
  for (int i = threadIdx.x; i < count * plan.turn; i += blockDim.x) {
    const int part = plan.by_turn.Quotient(i);
    const intptr_t address = parts[part];
    const intptr_t to = (address & -kVectorBytes) + (i - part * plan.turn) * kVectorBytes;
    const int first = static_cast<int>(to - address) / static_cast<int>(sizeof(T));
    if (first < 0 || first + kElements > elements) continue;
    const int column = from.ColumnOf(first);
    int place[kElements];
    places.OfVector(from.RowOf(first, column), place);
    StoreVector(reinterpret_cast<void*>(to), GatherAt<T>(from.ColumnAt(part, column), place));
  }
}

// Does the same where vectors that are plan.turn apart begin in the same row, plan.turn_columns
// further: where their elements are is looked up once. On an H100 seven permutations of bytes have
// 0.96 of the best so, and 0.92 one by one; of larger elements, with fewer to look up, they lose.
template <typename T>
__device__ inline void StoreInTurns(const PermuteJoinedPlan& plan, const JoinedColumns<T>& from,
                                    const RowPlaces<T>& places, const intptr_t* parts, int count,
                                    int elements) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  const int apart = plan.turn * kVectorBytes;
  const int columns_apart = plan.turn_columns * kSize;  // Bytes.
  for (int i = threadIdx.x; i < count * plan.turn; i += blockDim.x) {
    const int part = plan.by_turn.Quotient(i);
    const intptr_t address = parts[part];
    intptr_t to = (address & -kVectorBytes) + (i - part * plan.turn) * kVectorBytes;
    if (to < address) to += apart;  // The part begins inside this vector.
    const int first = static_cast<int>(to - address) / kSize;
    const intptr_t last = address + (elements - kElements) * kSize;
    if (to > last) continue;
    const int column = from.ColumnOf(first);
    int place[kElements];
    places.OfVector(from.RowOf(first, column), place);
    const unsigned char* at = from.ColumnAt(part, column);
#pragma unroll 2
    for (; to <= last; to += apart) {
      StoreVector(reinterpret_cast<void*>(to), GatherAt<T>(at, place));
      at += columns_apart;
    }
  }
}

// Stores what a part of `count` elements at `address` has of the vector in which it begins, or, for
// the tail, ends.
template <typename T>
__device__ inline void StoreEnd(const JoinedColumns<T>& from, int part, intptr_t address, int count,
                                bool tail) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  const intptr_t to = (address + (tail ? count * kSize : 0)) & -kVectorBytes;
  const int first = static_cast<int>(to - address) / kSize;
  const InVector has = {first < 0 ? -first : 0,
                        count - first < kElements ? count - first : kElements};
  // A vector that has both ends is the head's.
  if (tail ? has.begin > 0 || has.end == 0 : has.begin == 0) return;
  if (has.begin > 0 && has.end < kElements) {
    for (int k = has.begin; k < has.end; ++k) {
      reinterpret_cast<T*>(to)[k] = from.ElementAt(part, first + k);
    }
    return;
  }
  const Pieces<T> pieces(has);
  pieces.Store(to, from.PiecesAt(part, first, pieces));
}

template <typename T>
__global__ void __launch_bounds__(kMaxThreads)
    PermuteJoinedKernel(const void* in, int64_t in_bytes, void* out, PermuteJoinedPlan plan) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const auto rows = static_cast<int>(plan.rows.extent);
  auto* const in_rows = reinterpret_cast<InRow*>(tile + plan.tile_bytes);
  auto* const table = reinterpret_cast<uint16_t*>(in_rows + rows);
  auto* const parts = reinterpret_cast<intptr_t*>(table + RowPlaces<T>::kCopies * plan.table_rows);
  const RowPlaces<T> places(table, plan.table_rows);
  const JoinedTile at = FindTile(plan, kSize);

  const auto begin = reinterpret_cast<intptr_t>(in);
  const intptr_t end = begin + in_bytes;
  bool crosses = false;  // Whether a chunk lies partly outside of the tensor.
  for (int i = threadIdx.x; i < rows + kElements - 1; i += blockDim.x) {
    const int column = plan.by_rows.Quotient(i);
    const int row = i - column * rows;
    const intptr_t first = begin + at.in + OffsetOf(plan.rows, &FlatDigit::stride_in, row);
    const auto inside = static_cast<int>(first & (kVectorBytes - 1));
    const int to = row * plan.pitch + row / kElements * kVectorBytes;
    places.Set(i, to + inside + column * kSize);
    if (i >= rows) continue;
    const int chunks = (inside + at.columns * kSize + kVectorBytes - 1) / kVectorBytes;
    const intptr_t from = first - inside;
    in_rows[i] = {from, to, chunks};
    crosses = crosses || from < begin || from + chunks * kVectorBytes > end;
  }
  const bool cut_off = __syncthreads_or(crosses) != 0;
  const InRows loaded = {in_rows, rows, plan.in_chunks, plan.by_chunks};
  if (cut_off) {
    LoadRows<T, false>(loaded, begin, end, tile);
  } else {
    LoadRows<T, true>(loaded, begin, end, tile);
  }
  // The table of parts is made while the loads are on their way.
  const int joined = at.columns < plan.joined_columns ? at.columns : plan.joined_columns;
  const int count = plan.tile_columns == plan.joined_columns ? 1 : at.columns / joined;
  const intptr_t corner = reinterpret_cast<intptr_t>(out) + at.out;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    parts[i] =
        corner + OffsetOf(plan.columns, &FlatDigit::stride_out, at.first_column + i * joined);
  }
  WaitForCopies();
  __syncthreads();

  const JoinedColumns<T> from(plan, places, tile);
  const int elements = joined * rows;  // Of a part.
  if constexpr (kSize == 1) {
    StoreInTurns<T>(plan, from, places, parts, count, elements);
  } else {
    StoreOneByOne<T>(plan, from, places, parts, count, elements);
  }
  if (plan.whole) return;
  for (int i = threadIdx.x; i < 2 * count; i += blockDim.x) {
    StoreEnd<T>(from, i / 2, parts[i / 2], elements, i % 2 == 1);
  }
}

template <typename T>
LaunchStatus Run(const PermuteArgs& args, const PermuteJoinedPlan& plan) {
  return Launch(PermuteJoinedKernel<T>, Grid{plan.blocks}, Block{plan.threads}, plan.shared_bytes,
                args.stream, args.in, SpanBytesOfIn(args), args.out, plan);
}

}  // namespace

LaunchStatus PermuteJoined(const PermuteArgs& args) {
  const PermuteJoinedPlan plan = MakePermuteJoinedPlan(
      args, args.joined_limits != nullptr ? *args.joined_limits : JoinedLimitsFor(args));
  return ForElementSize(args, [&](auto zero) { return Run<decltype(zero)>(args, plan); });
}

}  // namespace stridewise
