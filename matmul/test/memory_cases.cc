#include "matmul/test/memory_cases.h"

#include <cstdint>

#include "common/base/element_type.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise {
namespace {

constexpr int64_t kTile = 32;
constexpr int64_t kExtent = kMemoryExtent;
constexpr int64_t kElements = kExtent * kExtent;
constexpr int64_t kWarps = kElements / 32;  // Of a thread an element, all lanes busy.

// Of 32 bytes, that a warp touches which wants a part of `rows` rows, `elements` neighbours in
// each.
int64_t Sectors(int64_t rows, int64_t elements, ElementType type = ElementType::kFloat) {
  return rows * CeilDiv(elements * (type == ElementType::kFloat ? 4 : 8), 32);
}

constexpr ElementType kFloat = ElementType::kFloat;
constexpr ElementType kDouble = ElementType::kDouble;

// Each of `warps` fetches the elements of A and B for each of k products, and stores C once.
AccessCounts Fetches(int64_t warps, int64_t a_sectors, int64_t b_sectors) {
  return {warps * kExtent * 2, warps * kExtent * (a_sectors + b_sectors)};
}
AccessCounts Stores(int64_t warps, int64_t sectors) { return {warps, warps * sectors}; }

// Each warp fetches 32 elements of a tile of A and of B for each `width` products, and puts them
// into shared memory; from there each lane takes an element of A and one of B for each product. In
// tiles of 32x32 a warp is a row: the element of A is the same for all lanes.
AccessCounts TileFetches(int64_t sectors, int64_t width = kTile) {
  const int64_t requests = kWarps * 2 * (kExtent / width);
  return {requests, requests * sectors};
}
AccessCounts TileStores(int64_t wavefronts, int64_t width = kTile) {
  return TileFetches(wavefronts, width);
}
AccessCounts TileLoads(int64_t a_wavefronts, int64_t b_wavefronts) {
  return {kWarps * kExtent * 2, kWarps * kExtent * (a_wavefronts + b_wavefronts)};
}

constexpr int64_t TileBytes(ElementType type, int64_t width = kTile) {  // Two, without padding.
  return 2 * width * width * (type == ElementType::kFloat ? 4 : 8);
}

// Kernels with their results in registers go along k in steps of 8. What all `warps` do, of which
// each does `counts` at every step, for every k, and once.
constexpr int64_t kDepth = 8;
AccessCounts EachWarp(int64_t warps, const AccessCounts& counts) {
  return {warps * counts.requests, warps * counts.units};
}
AccessCounts EachStep(int64_t warps, const AccessCounts& counts) {
  return EachWarp(warps * kExtent / kDepth, counts);
}
AccessCounts EachProduct(int64_t warps, const AccessCounts& counts) {
  return EachWarp(warps * kExtent, counts);
}

// A kernel with an element of C for each thread, whose warps are `rows` rows of C with as many
// neighbours each as there are lanes for. They want an element of A for each row and one of B for
// each column.
MemoryCase Naive(const char* kernel, Block block, int64_t rows, ElementType type = kFloat) {
  const int64_t cols = 32 / rows;
  return {kernel, block, type, Fetches(kWarps, Sectors(rows, 1, type), Sectors(1, cols, type)),
          Stores(kWarps, Sectors(rows, cols, type))};
}

// A kernel with tiles of this width. A warp is 4 rows of 8 threads, 2 of 16 or one of 32. Its
// elements of A lie in a bank for each row. A row of doubles is twice what the banks hold; one
// double for all lanes is not.
MemoryCase Tiled(const char* kernel, int width, ElementType type = kFloat) {
  const int64_t sectors = Sectors(32 / width, width, type);
  const int64_t wavefronts = type == kDouble ? 2 : 1;
  return {kernel,
          {width, width},
          type,
          TileFetches(sectors, width),
          Stores(kWarps, sectors),
          TileLoads(1, wavefronts),
          TileStores(wavefronts, width),
          TileBytes(type, width)};
}

// Vectors of accumulators that warps of a block of thin.cu hand to others.
constexpr int64_t kGiven = (8 + 4 + 2 + 1) * 16;

const MemoryCase kCases[] = {
    // A warp has one lane.
    {"naive_one_thread_blocks", {1, 1}, kFloat, Fetches(kElements, 1, 1), Stores(kElements, 1)},
    Naive("naive_uncoalesced", {16, 16}, 16),
    Naive("naive_uncoalesced", {32, 8}, 32),
    Naive("naive", {16, 16}, 2),
    Naive("naive", {32, 8}, 1),
    Naive("naive", {16, 16}, 2, kDouble),
    // The naive kernel, and for each k a load and a store of C; before the first a store of 0.
    {"global_accumulation",
     {16, 16},
     kFloat,
     EachProduct(kWarps, {3, Sectors(2, 1) + Sectors(1, 16) + Sectors(2, 16)}),
     EachWarp(kWarps, {kExtent + 1, (kExtent + 1) * Sectors(2, 16)})},
    Tiled("tiled_multiply_add", kTile),
    Tiled("tiled", kTile),
    Tiled("tiled", kTile, kDouble),
    // The global loads and stores of naive_one_thread_blocks.
    {"tile_width_1",
     {1, 1},
     kFloat,
     Fetches(kElements, 1, 1),
     Stores(kElements, 1),
     EachProduct(kElements, {2, 2}),
     EachProduct(kElements, {2, 2}),
     TileBytes(kFloat, 1)},
    Tiled("tile_width_8", 8),
    Tiled("tile_width_16", 16),
    // A warp loads 4 rows of A's tile and half a row of B's. For a k it takes eight elements of A,
    // each the same for all lanes, and a row of B: 9 for 8 fma.
    {"register_tile_1d",
     {512, 1},
     kFloat,
     EachStep(64, {2, Sectors(4, kDepth) + Sectors(1, 32)}),
     EachWarp(64, {8, 8 * Sectors(1, 32)}),
     EachProduct(64, {9, 9}),
     EachStep(64, {2, 2}),
     (64 + 64) * kDepth * 4},
    // Four times as much for each warp. Its lanes lie in 2 rows of C, 16 in each.
    {"register_tile_2d",
     {256, 1},
     kFloat,
     EachStep(8, {8, 4 * (Sectors(4, kDepth) + Sectors(1, 32))}),
     EachWarp(8, {64, 64 * Sectors(2, 16)}),
     EachProduct(8, {16, 16}),
     EachStep(8, {8, 8}),
     (128 + 128) * kDepth * 4},
    // The same sectors in 2 requests instead of 8. For a k two loads of A, one address for each
    // half of the warp, and two of B, where the lanes' 32 bytes apart make it 8 wavefronts instead
    // of 4. Stores of C write half of each sector. A's tile is stored from 16 of its rows, at k and
    // k + 4, which are in the same banks.
    {"vectorized",
     {256, 1},
     kFloat,
     EachStep(8, {2, Sectors(16, kDepth) + Sectors(1, 128)}),
     EachWarp(8, {16, 16 * Sectors(2 * 16, 4)}),
     EachProduct(8, {4, 2 * 2 + 2 * 8}),
     EachStep(8, {5, 4 * 2 + 4}),
     (128 + 128) * kDepth * 4},
    // Every load two wavefronts: half a warp has 128 bytes of B, or 32 of A. Stores of C write
    // whole lines, those of A's padded tile meet no bank twice.
    {"warp_tile",
     {256, 1},
     kFloat,
     EachStep(8, {2, Sectors(16, kDepth) + Sectors(1, 128)}),
     EachWarp(8, {16, 16 * Sectors(4, 32)}),
     EachProduct(8, {4, 2 * 2 + 2 * 2}),
     EachStep(8, {5, 4 * 1 + 4}),
     (132 + 128) * kDepth * 4},
    // 8 blocks of 16 warps, each for 16 rows of C. B is read once for each, a k at a time: 128
    // requests of a whole row. A comes in pieces of 4 rows and 8 k, a sector a row. For each k a
    // warp takes its vectors of B, 4 wavefronts, and four times 16 bytes of A, the same for all
    // lanes, 2 each. In the end 8 steps of 2 vectors of each warp have arrived that lie beyond the
    // k extent: zeros. Then 8 warps hand their 16 vectors of accumulators to the others, 4 of
    // these theirs, and so on; C leaves by whole rows.
    {"thin",
     {0, 0},
     kFloat,
     EachWarp(8, {kExtent + 64, Sectors(1, 128) * kExtent + 64 * Sectors(4, 8)}),
     EachWarp(8, {64, 64 * Sectors(1, 32)}),
     EachWarp(8, {kExtent * (1 + 4) + kGiven + 64, (4 + 4 * 2) * kExtent + kGiven * 4 + 64}),
     EachWarp(8,
              {kExtent + 256 + 64 + kGiven + 64, (kExtent + 256) * 4 + 64 + kGiven * 4 + 64 * 4}),
     (2 * 512 * 20 + 16 * 512 * 4) * 4},
};

}  // namespace

absl::Span<const MemoryCase> MemoryCases() { return kCases; }

}  // namespace stridewise
