#include "transpose/permute_flat_plan.h"

#include <algorithm>
#include <numeric>

#include "common/gpu/launch_geometry.h"
#include "transpose/permute_runs.h"

namespace stridewise {
namespace {

constexpr int64_t kChunkBytes = 16;
constexpr int64_t kSectorBytes = 32;
constexpr int64_t kMostElements = int64_t{1} << 31;

// Returns `extent` cut into pieces of equal length, at multiples of `unit`, of about `most`.
int Even(int64_t extent, int64_t most, int64_t unit) {
  const int64_t wanted = std::max<int64_t>(unit, most / unit * unit);
  if (extent <= wanted + wanted / 4) return static_cast<int>(extent);
  const int64_t pieces = CeilDiv(extent, wanted);
  return static_cast<int>(CeilDiv(CeilDiv(extent, pieces), unit) * unit);
}

int Log2Ceil(int64_t n) {
  int log2 = 0;
  while (int64_t{1} << log2 < n) ++log2;
  return log2;
}

}  // namespace

bool IsFlat(const PermuteArgs& args) {
  return args.rank >= 2 && Elements(args) < kMostElements && SplitIntoRuns(args).rows != 0;
}

bool HasFlatRuns(const PermuteArgs& args) {
  // Shorter ones have more in permute_tile (an H200): 107 bytes of `2x107x122x73x50:24031` 0.55 of
  // a copy and 0.43 flat, 88 of `11x293x4x98x19:41302` of 2 bytes 0.79 and 0.47, 112 of
  // `154x52x4x14x7x4:205143` of 8 bytes 0.86 and 0.71.
  const int64_t least_row_bytes = args.element_bytes == 2    ? 112
                                  : args.element_bytes == 16 ? 64
                                                             : 160;
  // Of 2 bytes `66x2x5x37x32x23:015342`, whose rows of `in` have 46 bytes, has 0.70 of a copy in
  // flat tiles and 0.95 in boxes (an H100); of bytes 44 of `5x48x15x6x19x44:523041` 0.66 and 0.77.
  const int64_t least_column_bytes = args.element_bytes == 1 ? 48 : 64;
  if (args.rank < 2 || Elements(args) >= kMostElements) return false;
  const PermuteRuns runs = SplitIntoRuns(args);
  if (runs.rows == 0) return false;
  const int64_t row_bytes = RunElements(args, runs.rows) * args.element_bytes;
  const int64_t column_bytes = RunElements(args, runs.columns) * args.element_bytes;
  // A tile of permute_tile that is made of few bytes of either side has most conflicts: rows of 70
  // bytes of `50x70x32x41x5:20431` have 0.59 flat, and 0.32 there (an H200).
  constexpr int64_t kFewBytes = 64;  // Of a row.
  constexpr int64_t kManyBytes = 4096;
  constexpr int64_t kShort = 6;  // The innermost dimension of `in`.
  const FlatDimension columns = FlatOf(args, runs.columns, &FlatDigit::stride_in);
  if (args.element_bytes == 1 && row_bytes >= kFewBytes && column_bytes >= kManyBytes &&
      columns.digit[0].count <= kShort) {
    return true;
  }
  return row_bytes >= least_row_bytes && column_bytes >= least_column_bytes;
}

PermuteFlatLimits FlatLimitsFor(const PermuteArgs& args) {
  constexpr int64_t kLarge = 15000000;  // Bytes of a tensor.
  constexpr int64_t kSmallOfPairs = 5000000;
  const int64_t bytes = Elements(args) * args.element_bytes;
  PermuteFlatLimits limits;
  // On an H100 `32x257x20x80:3201` of 2 bytes has 0.91 of a copy, and 0.88 with four neighbours.
  limits.group = 32;
  constexpr int kMoreBlocks = 210 << 10;  // Bytes of all blocks.
  if (args.element_bytes == 2 && bytes < kSmallOfPairs) {
    limits.row_bytes = 512;
    limits.column_bytes = 64;
    limits.most_bytes = 24 << 10;
  } else if (args.element_bytes <= 2 && bytes < kLarge) {
    // On an H100 `32x128x32x80:3210` of 2 bytes has 0.92, and 0.83 in tiles of 44 KB with 512
    // threads; eight permutations have 1.03 of the speed that 176 KB of all blocks give.
    limits.most_bytes = 24 << 10;
    limits.resident_bytes = kMoreBlocks;
  } else if (args.element_bytes == 1) {
    // 17 permutations have 1.02 of the speed of parts of 128 bytes in tiles of 44 KB (an H100).
    limits.column_bytes = 256;
    limits.most_bytes = 34 << 10;
  } else if (args.element_bytes <= 4 || (args.element_bytes == 8 && bytes >= kLarge)) {
    // 47 of 2 bytes have 0.850, and 0.823 in tiles of 24 KB; 32 of 4 bytes 0.903 as before. Of 2
    // bytes eight have 1.04 of the speed of rows of `in` of 128 bytes and more blocks (an H100).
    limits.most_bytes = 44 << 10;
    limits.threads = 512;
    if (args.element_bytes == 2) {
      limits.column_bytes = 256;
      limits.resident_bytes = kMoreBlocks;
    } else if (args.element_bytes == 4) {
      limits.resident_bytes = 226 << 10;
    }
  } else if (bytes >= kLarge) {
    limits.row_bytes = 384;
    limits.most_bytes = 52 << 10;
    limits.threads = 512;
  }
  return limits;
}

PermuteFlatPlan MakePermuteFlatPlan(const PermuteArgs& args, const PermuteFlatLimits& limits) {
  const int64_t size = args.element_bytes;
  const PermuteRuns runs = SplitIntoRuns(args);
  PermuteFlatPlan plan;
  plan.rows = FlatOf(args, runs.rows, &FlatDigit::stride_out);
  plan.columns = FlatOf(args, runs.columns, &FlatDigit::stride_in);
  plan.batch = FlatOf(args, ~(runs.rows | runs.columns), &FlatDigit::stride_out);

  // Where parts of out rows may begin, modulo a sector, and those of rows of `in`, modulo a chunk.
  const auto address = [](const void* data, int64_t unit) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(unit));
  };
  const int64_t out_apart = GcdOfStrides(plan.columns, &FlatDigit::stride_out, kSectorBytes);
  const int64_t out_at = std::gcd(GcdOfStrides(plan.batch, &FlatDigit::stride_out, out_apart),
                                  address(args.out, kSectorBytes));
  const int64_t in_at =
      std::gcd(GcdOfStrides(plan.batch, &FlatDigit::stride_in,
                            GcdOfStrides(plan.rows, &FlatDigit::stride_in, kChunkBytes)),
               address(args.in, kChunkBytes));

  // The tile: of the lengths that are wanted, or longer where the other side is short.
  const int64_t most = std::clamp<int64_t>(Elements(args) * size / limits.blocks_of_device,
                                           limits.least_bytes, limits.most_bytes);
  const int64_t slack = kChunkBytes - in_at + kChunkBytes;  // Of a row in shared memory.
  const int64_t row_unit = kSectorBytes / size;
  const int64_t column_unit = std::max<int64_t>(1, kChunkBytes / size);
  const int64_t shift = out_at == kSectorBytes ? 0 : row_unit;
  int64_t rows = std::min<int64_t>(plan.rows.extent, limits.row_bytes / size);
  int64_t columns = std::min<int64_t>(plan.columns.extent, limits.column_bytes / size);
  const auto bytes = [&] { return (rows + shift) * (columns * size + slack); };
  while (bytes() > most && std::max(rows, columns) > 4 * row_unit) {
    int64_t& longer = rows > columns ? rows : columns;
    longer = longer / 2;
  }
  constexpr int64_t kLongest = 1024;  // Bytes.
  while (columns < plan.columns.extent && columns * size < kLongest && 2 * bytes() <= most) {
    columns = std::min<int64_t>(2 * columns, plan.columns.extent);
  }
  while (rows < plan.rows.extent && rows * size < kLongest && 2 * bytes() <= most) {
    rows = std::min<int64_t>(2 * rows, plan.rows.extent);
  }
  plan.tile_rows = Even(plan.rows.extent, rows, row_unit);
  plan.tile_columns = Even(plan.columns.extent, columns, column_unit);
  plan.row_tiles = static_cast<uint32_t>(CeilDiv(plan.rows.extent, plan.tile_rows));
  plan.shifts = plan.row_tiles > 1 && shift > 0;
  plan.rows_held = plan.tile_rows + (plan.shifts ? static_cast<int>(shift) - 1 : 0);
  plan.at_sectors = shift == 0;
  plan.whole_begin = out_at >= kChunkBytes;
  plan.whole_end = plan.whole_begin && plan.rows.extent * size % kChunkBytes == 0;

  const int64_t column_tiles = CeilDiv(plan.columns.extent, plan.tile_columns);
  plan.group = static_cast<uint32_t>(CeilDiv(column_tiles, CeilDiv(column_tiles, limits.group)));
  plan.column_groups = static_cast<uint32_t>(CeilDiv(column_tiles, plan.group));
  plan.by_group = BlockDivisor(plan.group);
  plan.by_row_tiles = BlockDivisor(plan.row_tiles);
  plan.by_column_groups = BlockDivisor(plan.column_groups);
  plan.blocks = int64_t{plan.group} * plan.row_tiles * plan.column_groups * plan.batch.extent;

  plan.in_chunks =
      static_cast<int>(CeilDiv(plan.tile_columns * size + kChunkBytes - in_at, kChunkBytes));
  plan.by_chunks = SmallDivisor(plan.in_chunks);
  // An odd number of chunks: neighbouring rows lie in different banks, and, with a chunk more after
  // those of a vector, neighbouring vectors, too.
  plan.pitch = static_cast<int>((plan.in_chunks | 1) * kChunkBytes);
  if (size < kChunkBytes) plan.log2_spread = Log2Ceil(kChunkBytes / size);
  plan.tile_bytes = plan.rows_held * plan.pitch +
                    static_cast<int>((plan.rows_held >> plan.log2_spread) * kChunkBytes);

  const int most_threads = size == 1 ? kMostFlatThreads<1> : kMostFlatThreads<2>;
  plan.threads = std::min(plan.tile_bytes <= 16 << 10 ? 128 : most_threads, limits.threads);
  // Where a column's first vector begins in the tile, modulo 16 bytes, after its neighbour: a row
  // of `in` further for each element that its out row begins earlier in a sector. Eight vectors of
  // a column begin in eight chunks, and those of four columns should in the words of a chunk. On an
  // H100 `803x7x254x236:3210` of bytes had 3.5 wavefronts for a load without that.
  const int64_t apart =
      (size - plan.columns.digit[0].stride_out / size * plan.rows.digit[0].stride_in) &
      (kChunkBytes - 1);
  plan.log2_apart = apart % 2 != 0 ? 2 : apart % 4 != 0 ? 1 : 0;
  // A block has as many warps as columns are apart.
  while (plan.threads % (32 << plan.log2_apart) != 0) --plan.log2_apart;
  constexpr int kRowBytes = 16;  // Of the table of rows,
  constexpr int kPlaceBytes = 2;
  constexpr int kColumnBytes = 8;
  const int64_t copies = std::min<int64_t>(8, kChunkBytes / size);  // Of the table of places.
  plan.table_rows = static_cast<int>(CeilDiv(plan.rows_held, 8) * 8);
  const int64_t shared = plan.tile_bytes + (kRowBytes + copies * kPlaceBytes) * plan.table_rows +
                         int64_t{kColumnBytes} * plan.tile_columns;
  plan.shared_bytes = static_cast<int>(CeilDiv(shared, kChunkBytes) * kChunkBytes);
  // With less shared memory, more blocks would be resident.
  const int resident = std::max(1, limits.resident_bytes / plan.shared_bytes);
  constexpr int kSharedBytes = 228 << 10;  // Of a multiprocessor of sm_90, 1 KB a block for CUDA.
  const int least = kSharedBytes / (resident + 1) - (1 << 10);
  plan.shared_bytes = std::max(plan.shared_bytes, least / 16 * 16);
  return plan;
}

}  // namespace stridewise
