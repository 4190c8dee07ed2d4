// Equal work for all multiprocessors: tiles that do not fill a round are cut along k (Osama et al.,
// "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the
// GPU", 2023).
//
// 4096 x 4096 makes 512 tiles of 128 x 256, and 132 multiprocessors have 3.88 each: by whole tiles
// that takes as long as 4, 3 % more. So 132 blocks take equal shares of the terms of 116 tiles,
// each wherever it begins and ends, and the other tiles make three whole rounds. A small product
// has only shares.
//
// Of a tile that several blocks share each stores its partial sums in the workspace, and a second
// kernel adds them, in the order of k, so that the same call gives the same bits. No block waits
// for another.

#ifndef STRIDEWISE_MATMUL_KERNELS_SHARES_H_
#define STRIDEWISE_MATMUL_KERNELS_SHARES_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/kernels/tile_product.h"

namespace stridewise {

// The work of a call and its division, a kernel's argument. A unit is one step of one tile.
struct Shares {
  uint32_t tiles;          // Of one multiplication.
  uint32_t units_of_tile;  // 0 where there are no terms.
  uint32_t sharers;        // So many blocks share
  uint32_t cut_tiles;      // the first so many tiles.
  float4* partial_sums;    // Room for two tiles of each sharer, a multiple of 16.

  // The first unit of a sharer, and the sharer of a unit.
  __device__ uint64_t FirstUnit(uint32_t sharer) const {
    return static_cast<uint64_t>(cut_tiles) * units_of_tile * sharer / sharers;
  }
  __device__ uint32_t SharerOf(uint64_t unit) const {
    return static_cast<uint32_t>(((unit + 1) * sharers - 1) /
                                 (static_cast<uint64_t>(cut_tiles) * units_of_tile));
  }
};

// A part of a tile, or all of it.
struct Work {
  uint32_t tile;  // Of the batch.
  uint32_t first_unit;
  uint32_t units;
};

// Sets `work` to the sharer's part of its tile number `place` and returns whether there is such.
// From nothing else, so that a kernel keeps one register for where it is.
__device__ inline bool FindShare(const Shares& shares, uint32_t block, uint32_t place, Work* work) {
  const uint64_t begin = shares.FirstUnit(block);
  const uint64_t end = shares.FirstUnit(block + 1);
  work->tile = static_cast<uint32_t>(begin / shares.units_of_tile) + place;
  const uint64_t first_of_tile = static_cast<uint64_t>(work->tile) * shares.units_of_tile;
  const uint64_t end_of_tile = first_of_tile + shares.units_of_tile;
  const uint64_t first = first_of_tile < begin ? begin : first_of_tile;
  work->first_unit = static_cast<uint32_t>(first - first_of_tile);
  work->units = static_cast<uint32_t>((end < end_of_tile ? end : end_of_tile) - first);
  return first_of_tile < end;
}

// A sharer has two places for partial sums: the first is for the tile in which its share begins.
template <typename Tile>
__device__ inline float4* PartialSums(const Shares& shares, uint32_t sharer,
                                      uint64_t first_of_tile) {
  constexpr int64_t kTileVectors = Tile::kRows * Tile::kCols / kVector;
  const bool second = first_of_tile > shares.FirstUnit(sharer);
  return shares.partial_sums + (2 * static_cast<int64_t>(sharer) + second) * kTileVectors;
}

// Stores a sharer's part of a cut tile. By the threads of the first slice, which has it.
template <typename Tile>
__device__ inline void StorePartialSums(const Shares& shares, uint32_t tile, uint32_t sharer,
                                        int thread, Sums<Tile>& sums) {
  const uint64_t first_of_tile = static_cast<uint64_t>(tile) * shares.units_of_tile;
  float4* const mine = PartialSums<Tile>(shares, sharer, first_of_tile) + thread;
  ForEachVector(sums, [&](int place, const float* four) { mine[place] = Exchanged(four); });
}

// Adds vector `place` of all partial sums of a cut tile to `four`, pairs in their order again.
// Returns false where there are none, the tile having been one block's.
template <typename Tile>
__device__ inline bool AddPartialSums(const Shares& shares, uint32_t tile, int place, float* four) {
  const uint64_t first_of_tile = static_cast<uint64_t>(tile) * shares.units_of_tile;
  const uint32_t first = shares.SharerOf(first_of_tile);
  const uint32_t last = shares.SharerOf(first_of_tile + shares.units_of_tile - 1);
  if (first == last) return false;
  AddExchanged(PartialSums<Tile>(shares, first, first_of_tile)[place], four);
  // The others begin within the tile, and have their first place for it. Many loads at once: a deep
  // product of few tiles has some 60 sharers for each.
  constexpr int64_t kTileVectors = Tile::kRows * Tile::kCols / kVector;
#pragma unroll 8
  for (uint32_t sharer = first + 1; sharer <= last; ++sharer) {
    AddExchanged(shares.partial_sums[2 * static_cast<int64_t>(sharer) * kTileVectors + place],
                 four);
  }
  return true;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_KERNELS_SHARES_H_
