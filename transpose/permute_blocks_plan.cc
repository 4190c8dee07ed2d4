#include "transpose/permute_blocks_plan.h"

#include <algorithm>

#include "common/gpu/launch_geometry.h"
#include "transpose/permute_rows_plan.h"
#include "transpose/permute_runs.h"

namespace stridewise {
namespace {

constexpr int64_t kChunkBytes = 16;
constexpr int64_t kLeastBytes = 64;  // Of a block: two sectors.
constexpr int64_t kShortElements = 512;
constexpr int64_t kMostElements = 2048;

// Returns the least innermost dimensions of `out`, as bits, that are contiguous in `in`, too, and
// make a block; none where there is no block.
unsigned BlockOf(const PermuteArgs& args) {
  unsigned dims = 0;
  int64_t elements = 1;
  int64_t span = 1;                      // In `in`, of what has these strides and extents.
  for (int d = 0; d < args.rank; ++d) {  // Sorted by their stride in `out`.
    dims |= 1u << d;
    elements *= args.dims[d].extent;
    span += (args.dims[d].extent - 1) * args.dims[d].stride_in;
    if (elements > kMostElements) return 0;
    if (d > 0 && span == elements && elements * args.element_bytes >= kLeastBytes) return dims;
  }
  return 0;
}

}  // namespace

bool HasBlocks(const PermuteArgs& args) {
  if (!HasGaplessOut(args) || args.rank < 3) return false;
  const unsigned dims = BlockOf(args);
  return dims != 0 && dims + 1 != 1u << args.rank;
}

bool PrefersBlocks(const PermuteArgs& args) {
  constexpr int64_t kMostBytes = 4 << 10;  // With elements of 4 bytes and more.
  if (!HasBlocks(args)) return false;
  const int64_t elements = RunElements(args, BlockOf(args));
  return args.element_bytes < 4 ? elements <= kShortElements
                                : elements * args.element_bytes <= kMostBytes;
}

PermuteBlocksLimits BlocksLimitsFor(const PermuteArgs& args) {
  PermuteBlocksLimits limits;
  if (RunElements(args, BlockOf(args)) > kShortElements) limits.most_bytes = 36 << 10;
  return limits;
}

PermuteBlocksPlan MakePermuteBlocksPlan(const PermuteArgs& args,
                                        const PermuteBlocksLimits& limits) {
  const int64_t size = args.element_bytes;
  const unsigned dims = BlockOf(args);
  PermuteBlocksPlan plan;
  plan.block = FlatOf(args, dims, &FlatDigit::stride_out);
  plan.batch = FlatOf(args, ~dims, &FlatDigit::stride_out);
  const int64_t elements = plan.block.extent;
  plan.in_chunks = static_cast<int>(CeilDiv(elements * size + kChunkBytes - 1, kChunkBytes));
  // An odd number of chunks: neighbouring blocks lie in different banks.
  plan.pitch = static_cast<int>((plan.in_chunks | 1) * kChunkBytes);
  // Tiles end at multiples of 16 bytes of `out`: a block's bytes times 16 have no remainder.
  const int64_t unit = kChunkBytes / size;
  const int64_t most = std::clamp<int64_t>(Elements(args) * size / limits.blocks_of_device,
                                           plan.pitch, limits.most_bytes);
  plan.tile_blocks = static_cast<int>(std::max<int64_t>(1, most / plan.pitch / unit) * unit);
  plan.tiles = CeilDiv(int64_t{plan.batch.extent}, plan.tile_blocks);
  plan.by_chunks = SmallDivisor(plan.in_chunks);
  plan.by_block = SmallDivisor(elements);
  plan.tile_bytes = plan.tile_blocks * plan.pitch;
  plan.threads = limits.threads;
  plan.table_rows = static_cast<int>(CeilDiv(elements + unit, 8) * 8);
  constexpr int64_t kBlockBytes = 20;  // Of the tables of blocks,
  constexpr int64_t kPlaceBytes = 2;
  const int64_t copies = std::min<int64_t>(8, unit);  // Of the table of places.
  plan.shared_bytes = static_cast<int>(CeilDiv(plan.tile_bytes + kBlockBytes * plan.tile_blocks +
                                                   copies * kPlaceBytes * plan.table_rows,
                                               kChunkBytes) *
                                       kChunkBytes);
  return plan;
}

}  // namespace stridewise
