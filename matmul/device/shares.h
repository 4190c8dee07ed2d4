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

#ifndef STRIDEWISE_MATMUL_DEVICE_SHARES_H_
#define STRIDEWISE_MATMUL_DEVICE_SHARES_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/tile_product.h"

namespace stridewise {

// The work of a call and its division, a kernel's argument. A unit is one step of one tile. In 32
// bits throughout: at the beginning and end of a share, where all warps wait for it, a division of
// 64 bits takes 100 instructions.
struct Shares {
  uint32_t tiles;           // Of one multiplication.
  uint32_t units_of_tile;   // 0 where there are no terms.
  uint32_t cut_tiles;       // The first so many tiles are shared
  uint32_t sharers;         // by so many blocks.
  uint32_t units_of_share;  // Of the first blocks, `longer` many, one more.
  uint32_t longer;
  float4* partial_sums;  // Room for two tiles of each sharer, a multiple of 16.

  // The first unit of a sharer, and the sharer of a unit.
  __device__ uint32_t FirstUnit(uint32_t sharer) const {
    return sharer * units_of_share + min(sharer, longer);
  }
  __device__ uint32_t SharerOf(uint32_t unit) const {
    const uint32_t of_longer = longer * (units_of_share + 1);
    return unit < of_longer ? unit / (units_of_share + 1)
                            : longer + (unit - of_longer) / units_of_share;
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
  const uint32_t begin = shares.FirstUnit(block);
  const uint32_t end = shares.FirstUnit(block + 1);
  work->tile = begin / shares.units_of_tile + place;
  const uint32_t first_of_tile = work->tile * shares.units_of_tile;
  const uint32_t first = max(first_of_tile, begin);
  work->first_unit = first - first_of_tile;
  work->units = min(end, first_of_tile + shares.units_of_tile) - first;
  return first_of_tile < end;
}

// A sharer has two places for partial sums: the first is for the tile in which its share begins.
template <typename Tile>
__device__ inline float4* PartialSums(const Shares& shares, uint32_t sharer,
                                      uint32_t first_of_tile) {
  constexpr int64_t kTileVectors = Tile::kRows * Tile::kCols / kVector;
  const bool second = first_of_tile > shares.FirstUnit(sharer);
  return shares.partial_sums + (2 * static_cast<int64_t>(sharer) + second) * kTileVectors;
}

// Stores a sharer's part of a cut tile. `shared` as for StoreTile().
template <typename Tile>
__device__ inline void StorePartialSums(const Shares& shares, uint32_t tile, uint32_t sharer,
                                        float* shared, int thread, Sums<Tile>& sums) {
  float4* const mine = PartialSums<Tile>(shares, sharer, tile * shares.units_of_tile);
  if constexpr (Tile::kSlices == 1) {
    ForEachVector(sums,
                  [&](int place, const float* four) { mine[place + thread] = Exchanged(four); });
  } else {
    AddSlices(shared, thread, sums,
              [&](int place, const float* four) { mine[place] = Exchanged(four); });
  }
}

// The blocks that have parts of a tile, from the first to the last; the same where it was not cut.
struct Sharers {
  uint32_t first;
  uint32_t last;
};
__device__ inline Sharers SharersOfTile(const Shares& shares, uint32_t tile) {
  const uint32_t first_of_tile = tile * shares.units_of_tile;
  return {shares.SharerOf(first_of_tile),
          shares.SharerOf(first_of_tile + shares.units_of_tile - 1)};
}

// Adds vector `place` of a cut tile's partial sums to `four`, pairs in their order again: those of
// every kGroups-th share, from number `group` on.
template <typename Tile, int kGroups>
__device__ inline void AddPartialSums(const Shares& shares, uint32_t tile, const Sharers& sharers,
                                      int place, int group, float* four) {
  if (group == 0) {
    const uint32_t first_of_tile = tile * shares.units_of_tile;
    AddExchanged(PartialSums<Tile>(shares, sharers.first, first_of_tile)[place], four);
  }
  // The others begin within the tile, and have their first place for it. Many loads at once: a deep
  // product of few tiles has some 60 sharers for each.
  constexpr int64_t kTileVectors = Tile::kRows * Tile::kCols / kVector;
  const uint32_t next = sharers.first + (group == 0 ? kGroups : group);
#pragma unroll 8
  for (uint32_t sharer = next; sharer <= sharers.last; sharer += kGroups) {
    AddExchanged(shares.partial_sums[2 * static_cast<int64_t>(sharer) * kTileVectors + place],
                 four);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SHARES_H_
