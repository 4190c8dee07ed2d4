// Permutes dimensions where the innermost ones of `in` and of `out` are different: batches of
// transposes of matrices whose rows and columns lie anywhere (permute_flat_plan.h). It is
// tile_ragged.cu with a table of rows for each side, which a block makes of the tile's digits, as
// permute_tile.cu does, and a table of where rows lie in the tile.
//
// What permute_tile.cu loses here are the ends of its tile's out rows, which lie where a dimension
// ends. Each costs up to four stores of a few bytes, and stores are what is scarce: 512 bytes of a
// warp take a multiprocessor of an H100 35 cycles where they are 4 cache lines, and 130 where they
// are in 32. Bytes reach 0.83 of a copy instead of 0.44 at 197x223x53x10x18:42310.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/async_copy.h"
#include "transpose/device/flat_offset.h"
#include "transpose/device/flat_store.h"
#include "transpose/device/permute_load.h"
#include "transpose/device/vectors.h"
#include "transpose/element_size.h"
#include "transpose/permute_args.h"
#include "transpose/permute_flat_plan.h"

namespace stridewise {
namespace {

// The host executor has no launch bounds. Bytes take so many registers that a multiprocessor had
// four blocks where it has shared memory for five.
template <typename T>
[[maybe_unused]] inline constexpr int kMaxThreads = kMostFlatThreads<sizeof(T)>;
template <typename T>
[[maybe_unused]] inline constexpr int kBlocks = sizeof(T) == 1 ? 5 : 0;  // 0: no bound.

// The block's tile.
struct FlatTile {
  uint32_t first_row;
  uint32_t first_column;
  int rows_left;  // From the first row to the matrix's last, or some more than the tile holds.
  int columns;    // <= 0: no tile.
  int64_t in;     // Bytes from the tensor to the tile's first element.
  int64_t out;
};

__device__ inline FlatTile FindTile(const PermuteFlatPlan& plan, int size) {
  const uint32_t group = plan.by_group.Quotient(blockIdx.x);
  const uint32_t strip = plan.by_row_tiles.Quotient(group);
  const uint32_t matrix = plan.by_column_groups.Quotient(strip);
  const uint32_t column_tile =
      (strip - matrix * plan.column_groups) * plan.group + (blockIdx.x - group * plan.group);
  FlatTile tile;
  tile.first_row = (group - strip * plan.row_tiles) * plan.tile_rows;
  tile.first_column = column_tile * plan.tile_columns;
  const uint32_t rows_left = plan.rows.extent - tile.first_row;
  const auto most = static_cast<uint32_t>(plan.rows_held + plan.tile_rows);
  tile.rows_left = static_cast<int>(rows_left < most ? rows_left : most);
  const int64_t columns_left = int64_t{plan.columns.extent} - tile.first_column;
  tile.columns =
      static_cast<int>(columns_left < plan.tile_columns ? columns_left : plan.tile_columns);
  tile.in = OffsetOf(plan.batch, &FlatDigit::stride_in, matrix) + int64_t{tile.first_column} * size;
  tile.out = OffsetOf(plan.batch, &FlatDigit::stride_out, matrix) + int64_t{tile.first_row} * size;
  return tile;
}

template <typename T>
__global__ void __launch_bounds__(kMaxThreads<T>, kBlocks<T>)
    PermuteFlatKernel(const void* in, int64_t in_bytes, void* out, PermuteFlatPlan plan) {
  constexpr int kSize = sizeof(T);
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  auto* const in_rows = reinterpret_cast<InRow*>(tile + plan.tile_bytes);
  auto* const table = reinterpret_cast<uint16_t*>(in_rows + plan.table_rows);
  auto* const columns = reinterpret_cast<int64_t*>(table + RowPlaces<T>::kCopies * plan.table_rows);
  const RowPlaces<T> places(table, plan.table_rows);
  const FlatTile at = FindTile(plan, kSize);
  if (at.columns <= 0) return;  // For all threads of the block.
  const int rows = at.rows_left < plan.rows_held ? at.rows_left : plan.rows_held;

  const auto begin = reinterpret_cast<intptr_t>(in);
  const intptr_t end = begin + in_bytes;
  bool crosses = false;  // Whether a chunk lies partly outside of the tensor.
  for (int i = threadIdx.x; i < rows; i += blockDim.x) {
    const intptr_t first =
        begin + at.in + OffsetOf(plan.rows, &FlatDigit::stride_in, at.first_row + i);
    const auto inside = static_cast<int>(first & (kVectorBytes - 1));
    const int chunks = (inside + at.columns * kSize + kVectorBytes - 1) / kVectorBytes;
    const intptr_t from = first - inside;
    const int to = i * plan.pitch + (i >> plan.log2_spread) * kVectorBytes;
    in_rows[i] = {from, to, chunks};
    places.Set(i, to + inside);
    crosses = crosses || from < begin || from + chunks * kVectorBytes > end;
  }
  const bool cut_off = __syncthreads_or(crosses) != 0;
  const InRows loaded = {in_rows, rows, plan.in_chunks, plan.by_chunks};
  if (cut_off) {
    LoadRows<T, false>(loaded, begin, end, tile);
  } else {
    LoadRows<T, true>(loaded, begin, end, tile);
  }
  // The table of columns is made while the loads are on their way.
  for (int i = threadIdx.x; i < at.columns; i += blockDim.x) {
    columns[i] = OffsetOf(plan.columns, &FlatDigit::stride_out, at.first_column + i);
  }
  WaitForCopies();
  __syncthreads();

  const intptr_t corner = reinterpret_cast<intptr_t>(out) + at.out;
  const bool is_first = at.first_row == 0;
  const bool is_last = at.rows_left <= plan.tile_rows;
  // The rows that are held for the next tile's sake may be fewer where the matrix ends.
  const bool ends_inside = !is_last && at.rows_left >= plan.rows_held;
  const auto part_of = [&](int column) {
    const intptr_t row = corner + columns[column];
    const int shift = plan.shifts ? (-static_cast<int>(row) & (kSectorBytes - 1)) / kSize : 0;
    const int past = plan.tile_rows + shift;
    return RowPart<T>{row, is_first ? 0 : shift, !is_last && past < rows ? past : rows};
  };
  // Inside of a matrix all parts of out rows are as long as the tile, and made of whole sectors.
  const bool at_sectors = plan.at_sectors || (plan.shifts && !is_first);
  const int longest = is_first || is_last ? rows : plan.tile_rows;
  const int slack = at_sectors ? 0 : kSectorBytes - 1;
  const int vectors = (longest * kSize + slack + kVectorBytes - 1) / kVectorBytes;
  StoreWholeVectors<T>(part_of, at.columns, vectors, plan.log2_apart, places, tile);
  const bool whole = (!is_first || plan.whole_begin) && (ends_inside || plan.whole_end);
  if (!whole) StoreEnds<T>(part_of, at.columns, places, tile);
}

template <typename T>
LaunchStatus Run(const PermuteArgs& args, const PermuteFlatPlan& plan) {
  return Launch(PermuteFlatKernel<T>, Grid{plan.blocks}, Block{plan.threads}, plan.shared_bytes,
                args.stream, args.in, SpanBytesOfIn(args), args.out, plan);
}

}  // namespace

LaunchStatus PermuteFlat(const PermuteArgs& args) {
  const PermuteFlatPlan plan = MakePermuteFlatPlan(
      args, args.flat_limits != nullptr ? *args.flat_limits : FlatLimitsFor(args));
  return ForElementSize(args, [&](auto zero) { return Run<decltype(zero)>(args, plan); });
}

}  // namespace stridewise
