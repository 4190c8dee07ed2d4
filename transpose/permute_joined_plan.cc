#include "transpose/permute_joined_plan.h"

#include <algorithm>
#include <numeric>

#include "common/gpu/launch_geometry.h"

namespace stridewise {
namespace {

constexpr int64_t kChunkBytes = 16;
constexpr int64_t kSectorBytes = 32;
constexpr int64_t kMostElements = int64_t{1} << 31;
constexpr int64_t kMostRows = 256;  // Of a tile, which has all.

// Sets the turn of threads: of bytes so many vectors that all threads have as much to do as
// possible, where looking places up costs about as much as one and a half vectors.
void SetTurn(int64_t rows, int64_t size, PermuteJoinedPlan* plan) {
  constexpr double kPlaces = 1.5;
  const int64_t elements = kChunkBytes / size;
  // The most vectors that a part of `out` lies in.
  const int64_t vectors =
      CeilDiv(plan->joined_columns * rows * size + kChunkBytes - 1, kChunkBytes);
  const int64_t parts = plan->tile_columns / plan->joined_columns;
  plan->turn = static_cast<int>(vectors);
  double least = 0;
  for (int64_t times = 1; size == 1 && times <= CeilDiv(vectors, rows); ++times) {
    const int64_t rounds = CeilDiv(parts * rows * times, int64_t{plan->threads});
    const double cost = static_cast<double>(rounds) *
                        (static_cast<double>(CeilDiv(vectors, rows * times)) + kPlaces);
    if (least != 0 && cost >= least) continue;
    least = cost;
    plan->turn = static_cast<int>(rows * times);
    plan->turn_columns = static_cast<int>(elements * times);
  }
  plan->by_turn = SmallDivisor(plan->turn);
}

}  // namespace

bool CanJoinColumns(const PermuteArgs& args) {
  if (args.rank < 2 || Elements(args) >= kMostElements) return false;
  const PermuteRuns runs = SplitIntoRuns(args);
  if (runs.rows == 0) return false;
  const int64_t rows = RunElements(args, runs.rows);
  const FlatDigit inner = FlatOf(args, runs.columns, &FlatDigit::stride_in).digit[0];
  return rows <= kMostRows && inner.stride_out == rows * args.element_bytes;
}

PermuteJoinedLimits JoinedLimitsFor(const PermuteArgs& args) {
  constexpr int64_t kMegabyte = 1000000;
  PermuteJoinedLimits limits;
  // Many rows of bytes need more: of 84 to 225 bytes of `out` each, four have 0.04 to 0.13 more of
  // a copy in 20 KB (an H100, an H200).
  constexpr int64_t kManyRows = 64;
  const bool small =
      Elements(args) * args.element_bytes < (args.element_bytes == 1 ? 40 : 16) * kMegabyte;
  if (small &&
      (args.element_bytes > 1 || RunElements(args, SplitIntoRuns(args).rows) < kManyRows)) {
    limits.most_bytes = 12 << 10;
    limits.threads = 128;
  }
  return limits;
}

bool JoinsColumns(const PermuteArgs& args) {
  // From there on permute_flat's parts of `out` are long, or as long as whole sectors: 91 bytes
  // reach 0.94 of a copy joined and 0.51 flat, 98 of 2-byte elements 1.00 and 0.81, 236 of 4-byte
  // elements 0.97 and 0.86. Longer rows of 8 bytes and more need columns as long.
  constexpr int64_t kMostRowBytes = 64;
  constexpr int64_t kLongRowBytes = 128;
  constexpr int64_t kLongColumnBytes = 256;
  // Of bytes, which permute_tile is slower with: on an H200 parts of 225 bytes of
  // `7x7x23x3x17x75:410253` have 0.89 of a copy, and 0.69 in permute_tile, and tiles of 2.3 KB of
  // `3x36x71x6x5x78:214053` 0.60 and 0.41.
  const bool bytes = args.element_bytes == 1;
  const int64_t least_tile_bytes = bytes ? 2 << 10 : 4 << 10;
  const int64_t most_odd_row_bytes = args.element_bytes < 4 ? 272 : 512;
  const int64_t least_part_bytes = bytes ? 192 : args.element_bytes == 2 ? 256 : 96;
  if (!CanJoinColumns(args)) return false;
  const PermuteRuns runs = SplitIntoRuns(args);
  const int64_t row_bytes = RunElements(args, runs.rows) * args.element_bytes;
  const FlatDimension columns = FlatOf(args, runs.columns, &FlatDigit::stride_in);
  // 13 rows of 2 bytes and parts of 156 bytes reach 0.55 of a copy, 0.76 in permute_tile; tiles of
  // 2 KB 0.47 and 0.96.
  const bool is_long = row_bytes >= kLongRowBytes;
  const int64_t whole = is_long && args.element_bytes < 4 ? kChunkBytes : kSectorBytes;
  const bool odd = row_bytes % whole != 0;
  if (is_long && args.element_bytes >= 8 &&
      columns.extent * args.element_bytes < kLongColumnBytes) {
    return false;
  }
  return row_bytes < (odd ? most_odd_row_bytes : kMostRowBytes) &&
         row_bytes * columns.digit[0].count >= least_part_bytes &&
         row_bytes * columns.extent >= least_tile_bytes;
}

PermuteJoinedPlan MakePermuteJoinedPlan(const PermuteArgs& args,
                                        const PermuteJoinedLimits& limits) {
  const int64_t size = args.element_bytes;
  const PermuteRuns runs = SplitIntoRuns(args);
  PermuteJoinedPlan plan;
  plan.rows = FlatOf(args, runs.rows, &FlatDigit::stride_out);
  plan.columns = FlatOf(args, runs.columns, &FlatDigit::stride_in);
  plan.batch = FlatOf(args, ~(runs.rows | runs.columns), &FlatDigit::stride_out);
  const int64_t rows = plan.rows.extent;
  const int64_t joined = plan.columns.digit[0].count;
  const int64_t periods = plan.columns.extent / joined;

  // The tile: as many whole periods as it may have, or an equal part of one.
  int64_t most = std::clamp<int64_t>(Elements(args) * size / limits.blocks_of_device,
                                     limits.least_bytes, limits.most_bytes);
  // A period that is cut has ends, and its rows of `in` begin inside sectors once more: whole,
  // `9x27x389x13x79:32410` of 1 byte has 0.72 of a copy instead of 0.57 (an H100).
  const int64_t period_bytes = rows * (joined * size + 2 * kChunkBytes);
  if (most >= limits.most_bytes && period_bytes <= 2 * most) most = std::max(most, period_bytes);
  const int64_t longest = std::max<int64_t>(limits.row_bytes, limits.enough_bytes / rows);
  const int64_t row_bytes = std::min(longest, most / rows - 2 * kChunkBytes);
  const int64_t wanted = std::max<int64_t>(1, std::max(row_bytes, kChunkBytes) / size);
  if (joined <= wanted + wanted / 4) {
    const int64_t tiles = CeilDiv(periods, std::max<int64_t>(1, wanted / joined));
    plan.tile_columns = static_cast<int>(CeilDiv(periods, tiles) * joined);
    plan.joined_columns = static_cast<int>(joined);
    plan.period = static_cast<uint32_t>(plan.tile_columns);
    plan.column_tiles = static_cast<uint32_t>(CeilDiv(plan.columns.extent, plan.period));
  } else {  // Cut where sectors of `out` and chunks of `in` end.
    const int64_t unit = std::max<int64_t>(kSectorBytes / std::gcd(kSectorBytes, rows * size),
                                           std::max<int64_t>(1, kChunkBytes / size));
    const int64_t pieces = CeilDiv(joined, wanted);
    plan.tile_columns =
        static_cast<int>(std::min(joined, CeilDiv(CeilDiv(joined, pieces), unit) * unit));
    plan.joined_columns = plan.tile_columns;
    plan.period = static_cast<uint32_t>(joined);
    plan.pieces = static_cast<uint32_t>(CeilDiv(joined, plan.tile_columns));
    plan.column_tiles = static_cast<uint32_t>(periods) * plan.pieces;
  }
  plan.blocks = int64_t{plan.column_tiles} * plan.batch.extent;
  plan.by_pieces = BlockDivisor(plan.pieces);
  plan.by_column_tiles = BlockDivisor(plan.column_tiles);

  // An odd number of chunks: neighbouring rows lie in different banks, and, with a chunk more after
  // those of a vector, neighbouring vectors, too.
  plan.in_chunks =
      static_cast<int>(CeilDiv(plan.tile_columns * size + kChunkBytes - 1, kChunkBytes));
  plan.pitch = static_cast<int>((plan.in_chunks | 1) * kChunkBytes);
  plan.tile_bytes = static_cast<int>(rows * plan.pitch + rows * size / kChunkBytes * kChunkBytes);
  plan.by_chunks = SmallDivisor(plan.in_chunks);
  plan.by_rows = SmallDivisor(rows);

  int64_t apart = std::gcd(kChunkBytes, joined * rows * size);
  if (plan.pieces > 1) apart = std::gcd(apart, plan.joined_columns * rows * size);
  for (int i = 1; i < plan.columns.digits; ++i) {
    apart = std::gcd(apart, plan.columns.digit[i].stride_out);
  }
  apart = GcdOfStrides(plan.batch, &FlatDigit::stride_out, apart);
  plan.whole = apart == kChunkBytes && reinterpret_cast<uintptr_t>(args.out) % kChunkBytes == 0;

  // Threads that have little to do: `26x42x3x456x187:13042` of 1 byte has 0.88 of a copy, and 0.78
  // with 256 (an H100).
  constexpr int kFewThreads = 128;
  constexpr int kSmallTileBytes = 8 << 10;
  plan.threads =
      plan.tile_bytes <= kSmallTileBytes ? std::min(kFewThreads, limits.threads) : limits.threads;
  SetTurn(rows, size, &plan);
  constexpr int kRowBytes = 16;  // Of the table of rows,
  constexpr int kPlaceBytes = 2;
  constexpr int kPartBytes = 8;
  const int64_t elements = kChunkBytes / size;
  plan.table_rows = static_cast<int>(CeilDiv(rows + elements, 8) * 8);
  const int64_t copies = std::min<int64_t>(8, elements);  // Of the table of places.
  plan.shared_bytes = static_cast<int>(
      CeilDiv(plan.tile_bytes + kRowBytes * rows + copies * kPlaceBytes * plan.table_rows +
                  kPartBytes * int64_t{plan.tile_columns / plan.joined_columns},
              kChunkBytes) *
      kChunkBytes);
  return plan;
}

}  // namespace stridewise
