#include "transpose/permute_strips_plan.h"

#include <algorithm>
#include <numeric>

#include "common/gpu/launch_geometry.h"

namespace stridewise {
namespace {

constexpr int64_t kChunkBytes = 16;
constexpr int64_t kSectorBytes = 32;
constexpr int64_t kMostElements = int64_t{1} << 31;
constexpr int64_t kMostColumns = 128;  // Of a tile, which has all.

}  // namespace

bool CanCutStrips(const PermuteArgs& args) {
  if (args.rank < 2 || Elements(args) >= kMostElements) return false;
  const PermuteRuns runs = SplitIntoRuns(args);
  if (runs.rows == 0) return false;
  const int64_t columns = RunElements(args, runs.columns);
  const FlatDigit inner = FlatOf(args, runs.rows, &FlatDigit::stride_out).digit[0];
  return columns <= kMostColumns && inner.stride_in == columns * args.element_bytes;
}

bool CutsStrips(const PermuteArgs& args) {
  constexpr int64_t kLeastBytes = 64;
  constexpr int64_t kLeastTileBytes = 4 << 10;
  if (args.element_bytes > 4 || !CanCutStrips(args)) return false;
  const PermuteRuns runs = SplitIntoRuns(args);
  const int64_t column_bytes = RunElements(args, runs.columns) * args.element_bytes;
  const int64_t most = args.element_bytes < 4 ? 32 : 64;  // From there on permute_flat is faster.
  const FlatDimension rows = FlatOf(args, runs.rows, &FlatDigit::stride_out);
  return column_bytes < most && column_bytes * rows.digit[0].count >= kLeastBytes &&
         int64_t{rows.extent} * args.element_bytes >= kLeastBytes &&
         column_bytes * rows.extent >= kLeastTileBytes;
}

PermuteStripsPlan MakePermuteStripsPlan(const PermuteArgs& args,
                                        const PermuteStripsLimits& limits) {
  const int64_t size = args.element_bytes;
  const PermuteRuns runs = SplitIntoRuns(args);
  PermuteStripsPlan plan;
  plan.rows = FlatOf(args, runs.rows, &FlatDigit::stride_out);
  plan.columns = FlatOf(args, runs.columns, &FlatDigit::stride_in);
  plan.batch = FlatOf(args, ~(runs.rows | runs.columns), &FlatDigit::stride_out);
  const int64_t columns = plan.columns.extent;
  const int64_t part = plan.rows.digit[0].count;
  const int64_t periods = plan.rows.extent / part;

  // The tile: as many whole periods as it may have, or an equal part of one.
  const int64_t most = std::clamp<int64_t>(Elements(args) * size / limits.blocks_of_device,
                                           limits.least_bytes, limits.most_bytes);
  const int64_t wanted =
      std::max<int64_t>(1, std::min<int64_t>(most / (columns * size), limits.strip_bytes / size));
  if (part <= wanted + wanted / 4) {
    const int64_t tiles = CeilDiv(periods, std::max<int64_t>(1, wanted / part));
    plan.tile_rows = static_cast<int>(CeilDiv(periods, tiles) * part);
    plan.part_rows = static_cast<int>(part);
    plan.period = static_cast<uint32_t>(plan.tile_rows);
    plan.row_tiles = static_cast<uint32_t>(CeilDiv(plan.rows.extent, plan.period));
  } else {  // Cut where sectors of `out` and chunks of `in` end.
    const int64_t unit = kSectorBytes / size;
    const int64_t pieces = CeilDiv(part, wanted);
    plan.tile_rows = static_cast<int>(std::min(part, CeilDiv(CeilDiv(part, pieces), unit) * unit));
    plan.part_rows = plan.tile_rows;
    plan.period = static_cast<uint32_t>(part);
    plan.pieces = static_cast<uint32_t>(CeilDiv(part, plan.tile_rows));
    plan.row_tiles = static_cast<uint32_t>(periods) * plan.pieces;
  }
  plan.blocks = int64_t{plan.row_tiles} * plan.batch.extent;
  plan.by_pieces = BlockDivisor(plan.pieces);
  plan.by_row_tiles = BlockDivisor(plan.row_tiles);

  plan.in_chunks =
      static_cast<int>(CeilDiv(plan.part_rows * columns * size + kChunkBytes - 1, kChunkBytes));
  const int64_t parts = plan.tile_rows / plan.part_rows;
  plan.tile_bytes = static_cast<int>(parts * plan.in_chunks * kChunkBytes);
  plan.vectors = static_cast<int>(CeilDiv(plan.tile_rows * size + kChunkBytes - 1, kChunkBytes));
  plan.by_chunks = SmallDivisor(plan.in_chunks);
  plan.by_part_rows = SmallDivisor(plan.part_rows);
  plan.by_vectors = SmallDivisor(plan.vectors);

  int64_t apart = std::gcd(kChunkBytes, plan.rows.extent * size);
  if (plan.row_tiles > 1) {
    apart = std::gcd(std::gcd(apart, plan.tile_rows * size), int64_t{plan.period} * size);
  }
  apart = GcdOfStrides(plan.columns, &FlatDigit::stride_out, apart);
  apart = GcdOfStrides(plan.batch, &FlatDigit::stride_out, apart);
  plan.whole = apart == kChunkBytes && reinterpret_cast<uintptr_t>(args.out) % kChunkBytes == 0;

  plan.threads = limits.threads;
  constexpr int64_t kPartBytes = 16;  // Of the table of parts,
  constexpr int64_t kColumnBytes = 8;
  plan.shared_bytes = static_cast<int>(
      CeilDiv(plan.tile_bytes + kPartBytes * parts + kColumnBytes * columns, kChunkBytes) *
      kChunkBytes);
  return plan;
}

}  // namespace stridewise
