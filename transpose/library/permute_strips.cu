// Permutes dimensions where a short run of `in` ends where the innermost dimension of `out` goes on
// (permute_strips_plan.h): transposes of few columns, in batches of any dimensions. What is loaded
// are contiguous parts of whole rows, as they are; a thread gathers 16 bytes of a strip of `out`
// down the rows, which are so short that their places need no table.
//
// permute_flat.cu would load rows of 12 bytes in two chunks of 16, and permute_tile.cu needs a
// table of all rows.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/async_copy.h"
#include "transpose/device/flat_offset.h"
#include "transpose/device/gather.h"
#include "transpose/device/permute_load.h"
#include "transpose/device/vectors.h"
#include "transpose/element_size.h"
#include "transpose/permute_args.h"
#include "transpose/permute_strips_plan.h"

namespace stridewise {
namespace {

[[maybe_unused]] constexpr int kMaxThreads = 256;  // The host executor has no launch bounds.

// The block's tile.
struct StripsTile {
  uint32_t first_row;
  int rows;
  int64_t in;   // Bytes from the tensor to the batch's first element.
  int64_t out;  // The same of `out`, to the tile's first row.
};

__device__ inline StripsTile FindTile(const PermuteStripsPlan& plan, int size) {
  const uint32_t matrix = plan.by_row_tiles.Quotient(blockIdx.x);
  const uint32_t row_tile = blockIdx.x - matrix * plan.row_tiles;
  const uint32_t unit = plan.by_pieces.Quotient(row_tile);
  const uint32_t piece = row_tile - unit * plan.pieces;
  StripsTile tile;
  tile.first_row = unit * plan.period + piece * plan.tile_rows;
  const uint32_t of_unit = (unit + 1) * plan.period;
  const uint32_t end = of_unit < plan.rows.extent ? of_unit : plan.rows.extent;
  const uint32_t left = end - tile.first_row;
  const auto most = static_cast<uint32_t>(plan.tile_rows);
  tile.rows = static_cast<int>(left < most ? left : most);
  tile.in = OffsetOf(plan.batch, &FlatDigit::stride_in, matrix);
  tile.out = OffsetOf(plan.batch, &FlatDigit::stride_out, matrix) + int64_t{tile.first_row} * size;
  return tile;
}

// The rows of a tile in shared memory: parts of rows without gaps.
template <typename T>
class StripRows {
 public:
  static constexpr int kElements = kVectorElements<T>;

  __device__ StripRows(const PermuteStripsPlan& plan, const InRow* parts, int part_rows,
                       const unsigned char* tile)
      : plan_(plan),
        parts_(parts),
        part_rows_(part_rows),
        row_bytes_(static_cast<int>(plan.columns.extent * sizeof(T))),
        tile_(tile) {}

  // Returns the vector of rows from `first` on of a column. Lanes that are eight vectors apart
  // begin with different words of it, which lie in different banks.
  __device__ Vector VectorAt(int column, int first, int rotation) const {
    const int part = plan_.by_part_rows.Quotient(first);
    const int row = first - part * part_rows_;
    const int begin = PlaceOf(part, row);
    const bool one_part = row + kElements <= part_rows_;
    int place[kElements];
#pragma unroll
    for (int k = 0; k < kElements; ++k) {
      const int rotated = sizeof(T) < 8 ? (k + rotation * kInWord) & (kElements - 1) : k;
      place[k] = one_part ? begin + rotated * row_bytes_ : PlaceOfRow(first + rotated);
    }
    const Vector vector = GatherAt<T>(tile_ + column * static_cast<int>(sizeof(T)), place);
    if constexpr (sizeof(T) >= 8) return vector;
    const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    return RotatedBack(words, (rotation & 1) != 0, (rotation & 2) != 0);
  }
  __device__ T ElementAt(int column, int row) const {
    return *reinterpret_cast<const T*>(tile_ + column * static_cast<int>(sizeof(T)) +
                                       PlaceOfRow(row));
  }

 private:
  static constexpr int kInWord = sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1;

  // Returns where a row of a part is, in bytes.
  __device__ int PlaceOf(int part, int row) const { return parts_[part].to + row * row_bytes_; }
  __device__ int PlaceOfRow(int row) const {
    const int part = plan_.by_part_rows.Quotient(row);
    return PlaceOf(part, row - part * part_rows_);
  }

  const PermuteStripsPlan& plan_;
  const InRow* parts_;
  int part_rows_;
  int row_bytes_;
  const unsigned char* tile_;
};

template <typename T>
__global__ void __launch_bounds__(kMaxThreads)
    PermuteStripsKernel(const void* in, int64_t in_bytes, void* out, PermuteStripsPlan plan) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const auto columns = static_cast<int>(plan.columns.extent);
  const StripsTile at = FindTile(plan, kSize);
  const int part_rows = at.rows < plan.part_rows ? at.rows : plan.part_rows;
  const int parts = plan.tile_rows == plan.part_rows ? 1 : at.rows / plan.part_rows;
  auto* const in_parts = reinterpret_cast<InRow*>(tile + plan.tile_bytes);
  auto* const out_columns = reinterpret_cast<intptr_t*>(in_parts + plan.tile_rows / plan.part_rows);

  const auto begin = reinterpret_cast<intptr_t>(in);
  const intptr_t end = begin + in_bytes;
  bool crosses = false;  // Whether a chunk lies partly outside of the tensor.
  for (int i = threadIdx.x; i < parts; i += blockDim.x) {
    const intptr_t first =
        begin + at.in + OffsetOf(plan.rows, &FlatDigit::stride_in, at.first_row + i * part_rows);
    const auto inside = static_cast<int>(first & (kVectorBytes - 1));
    const int chunks = (inside + part_rows * columns * kSize + kVectorBytes - 1) / kVectorBytes;
    const intptr_t from = first - inside;
    in_parts[i] = {from, i * plan.in_chunks * kVectorBytes, chunks};
    crosses = crosses || from < begin || from + chunks * kVectorBytes > end;
  }
  const bool cut_off = __syncthreads_or(crosses) != 0;
  const InRows loaded = {in_parts, parts, plan.in_chunks, plan.by_chunks};
  if (cut_off) {
    LoadRows<T, false>(loaded, begin, end, tile);
  } else {
    LoadRows<T, true>(loaded, begin, end, tile);
  }
  const intptr_t corner = reinterpret_cast<intptr_t>(out) + at.out;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    out_columns[i] = corner + OffsetOf(plan.columns, &FlatDigit::stride_out, i);
  }
  WaitForCopies();
  __syncthreads();
  // Now a part begins where its first row does.
  for (int i = threadIdx.x; i < parts; i += blockDim.x) {
    const intptr_t first =
        begin + at.in + OffsetOf(plan.rows, &FlatDigit::stride_in, at.first_row + i * part_rows);
    in_parts[i].to += static_cast<int>(first & (kVectorBytes - 1));
  }
  __syncthreads();

  const StripRows<T> from(plan, in_parts, part_rows, tile);
  const auto rotation = static_cast<int>(threadIdx.x / 8 % 4);
#pragma unroll 2
  for (int i = threadIdx.x; i < columns * plan.vectors; i += blockDim.x) {
    const int column = plan.by_vectors.Quotient(i);
    const intptr_t address = out_columns[column];
    const intptr_t to = (address & -kVectorBytes) + (i - column * plan.vectors) * kVectorBytes;
    const int first = static_cast<int>(to - address) / kSize;
    if (first < 0 || first + kElements > at.rows) continue;
    StoreVector(reinterpret_cast<void*>(to), from.VectorAt(column, first, rotation));
  }
  if (plan.whole) return;
  // The ends of strips, which are long, a thread an element.
  for (int i = threadIdx.x; i < columns * 2 * kElements; i += blockDim.x) {
    const int column = i / (2 * kElements);
    const int k = i % kElements;
    const intptr_t address = out_columns[column];
    const int head = static_cast<int>(-address & (kVectorBytes - 1)) / kSize;
    const int tail_begin = head + (at.rows > head ? (at.rows - head) / kElements * kElements : 0);
    const bool tail = i / kElements % 2 == 1;
    const int row = tail ? tail_begin + k : k;
    if (row >= at.rows || (!tail && row >= head)) continue;
    reinterpret_cast<T*>(address)[row] = from.ElementAt(column, row);
  }
}

template <typename T>
LaunchStatus Run(const PermuteArgs& args, const PermuteStripsPlan& plan) {
  return Launch(PermuteStripsKernel<T>, Grid{plan.blocks}, Block{plan.threads}, plan.shared_bytes,
                args.stream, args.in, SpanBytesOfIn(args), args.out, plan);
}

}  // namespace

LaunchStatus PermuteStrips(const PermuteArgs& args) {
  const PermuteStripsPlan plan = MakePermuteStripsPlan(
      args, args.strips_limits != nullptr ? *args.strips_limits : PermuteStripsLimits());
  return ForElementSize(args, [&](auto zero) { return Run<decltype(zero)>(args, plan); });
}

}  // namespace stridewise
