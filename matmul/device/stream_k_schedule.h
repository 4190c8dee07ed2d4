// The stream-K schedule: equal work for all multiprocessors, by splitting along k the tiles that do
// not fill a round (Osama et al., "Stream-K: Work-centric Parallel Decomposition for Dense
// Matrix-Matrix Multiplication on the GPU", 2023).
//
// 4096 x 4096 has 512 tiles of 128 x 256, 3.88 for each of 132 multiprocessors: by whole tiles that
// takes as long as 4, 3 % more. So the k steps of 116 tiles, one tile after the other, are divided
// into 132 equal work units, which begin and end wherever they happen to, and the other tiles make
// three whole rounds. A small product has only work units.
//
// Where several units have parts of a tile each stores its partial sums in the workspace, and a
// second kernel, the fixup (fixup.h), adds them in the order of k, so that the same call gives the
// same bits. No block waits for another.

#ifndef STRIDEWISE_MATMUL_DEVICE_STREAM_K_SCHEDULE_H_
#define STRIDEWISE_MATMUL_DEVICE_STREAM_K_SCHEDULE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/accumulators.h"
#include "matmul/device/block_tile.h"
#include "matmul/device/tile_order.h"

namespace stridewise {

// Returns the value, which the compiler takes for another one. What is computed from it before a
// main loop and after is then computed twice instead of kept in registers, of which the loop has
// none to spare.
__device__ inline uint32_t Reload(uint32_t value) {
#ifndef STRIDEWISE_HOST_EXECUTOR
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// How the work of a call is divided, a kernel's argument. A step is a k step of one tile; the steps
// of all split tiles are numbered tile by tile. All in 32 bits: where a unit begins and ends all
// warps wait for its coordinates, and a division in 64 bits takes 100 instructions.
struct StreamKSchedule {
  TileOrder order;
  uint32_t steps_per_tile;  // 0 where k is 0.
  uint32_t split_tiles;     // Tiles 0 to split_tiles - 1 of the batch are split.
  uint32_t units;           // The number of work units that their steps are divided into.
  uint32_t steps_per_unit;  // The steps of a unit, rounded down.
  uint32_t longer_units;    // Units 0 to longer_units - 1 have one step more.
  float4* partial_sums;     // Room for two tiles of each unit, a multiple of 16 bytes.

  // Returns the first step of a unit.
  __device__ uint32_t FirstStep(uint32_t unit) const {
    return unit * steps_per_unit + min(unit, longer_units);
  }
  // Returns the unit that has this step.
  __device__ uint32_t UnitOfStep(uint32_t step) const {
    const uint32_t steps_of_longer = longer_units * (steps_per_unit + 1);
    return step < steps_of_longer ? step / (steps_per_unit + 1)
                                  : longer_units + (step - steps_of_longer) / steps_per_unit;
  }
};

// A tile, or the part of one that a unit has.
struct WorkTile {
  uint32_t tile;  // Its number in the batch.
  uint32_t first_step;
  uint32_t steps;
};

// Sets `work` to the unit's part of the index-th tile that it has a part of, and returns whether
// there is one. Computed from nothing else, so that a kernel's loop needs one register for `index`.
__device__ inline bool FindWorkTile(const StreamKSchedule& schedule, uint32_t unit, uint32_t index,
                                    WorkTile* work) {
  const uint32_t begin = schedule.FirstStep(unit);
  const uint32_t end = schedule.FirstStep(unit + 1);
  work->tile = begin / schedule.steps_per_tile + index;
  const uint32_t first_of_tile = work->tile * schedule.steps_per_tile;
  const uint32_t first = max(first_of_tile, begin);
  work->first_step = first - first_of_tile;
  work->steps = min(end, first_of_tile + schedule.steps_per_tile) - first;
  return first_of_tile < end;
}

// Sets `work` to the index-th piece of work of this block, one of persistent blocks: whole tiles
// first, of which there are `whole_tiles` behind the split ones, and then its unit of the split
// tiles. Returns whether there is one.
__device__ inline bool FindPersistentWork(const StreamKSchedule& schedule, uint32_t whole_tiles,
                                          uint32_t index, WorkTile* work) {
  const uint32_t rounds =
      blockIdx.x < whole_tiles ? (whole_tiles - 1 - blockIdx.x) / gridDim.x + 1 : 0;
  if (index < rounds) {
    *work = {schedule.split_tiles + blockIdx.x + index * gridDim.x, 0, schedule.steps_per_tile};
    return true;
  }
  return blockIdx.x < schedule.units && FindWorkTile(schedule, blockIdx.x, index - rounds, work);
}

// Returns where a unit keeps its partial sums of the tile whose first step is `first_of_tile`. A
// unit has room for two split tiles: the first is for the tile in which it begins.
template <typename Tile>
__device__ inline float4* PartialSums(const StreamKSchedule& schedule, uint32_t unit,
                                      uint32_t first_of_tile) {
  constexpr int64_t kTileVectors = Tile::kBlockM * Tile::kBlockN / kVector;
  const bool second = first_of_tile > schedule.FirstStep(unit);
  return schedule.partial_sums + (2 * static_cast<int64_t>(unit) + second) * kTileVectors;
}

// Stores a unit's part of a split tile. `shared` as for StoreTile().
template <typename Tile>
__device__ inline void StorePartialSums(const StreamKSchedule& schedule, uint32_t tile,
                                        uint32_t unit, float* shared, int thread,
                                        Accumulators<Tile>& accumulators) {
  float4* const sums = PartialSums<Tile>(schedule, unit, tile * schedule.steps_per_tile);
  if constexpr (Tile::kWarpsAlongK == 1) {
    ForEachVector(accumulators,
                  [&](int offset, const float* four) { sums[offset + thread] = Exchanged(four); });
  } else {
    ReduceSlices(shared, thread, accumulators,
                 [&](int number, const float* four) { sums[number] = Exchanged(four); });
  }
}

// The units that have parts of a tile, both ends included. Where they are the same the tile is
// whole.
struct UnitRange {
  uint32_t first;
  uint32_t last;
};

__device__ inline UnitRange UnitsOfTile(const StreamKSchedule& schedule, uint32_t tile) {
  const uint32_t first_of_tile = tile * schedule.steps_per_tile;
  return {schedule.UnitOfStep(first_of_tile),
          schedule.UnitOfStep(first_of_tile + schedule.steps_per_tile - 1)};
}

// Adds to `four` the partial sums of vector `number` (CoordOfVector()) of a split tile: those of
// every kGroups-th of its units, from number `group` on.
template <typename Tile, int kGroups>
__device__ inline void AddPartialSums(const StreamKSchedule& schedule, uint32_t tile,
                                      const UnitRange& units, int number, int group, float* four) {
  if (group == 0) {
    const uint32_t first_of_tile = tile * schedule.steps_per_tile;
    AddExchanged(PartialSums<Tile>(schedule, units.first, first_of_tile)[number], four);
  }
  // The other units begin within the tile, and so keep it in their first room. Eight loads in
  // flight: a deep product of few tiles has some 60 units for each.
  constexpr int64_t kTileVectors = Tile::kBlockM * Tile::kBlockN / kVector;
  const uint32_t next = units.first + (group == 0 ? kGroups : group);
#pragma unroll 8
  for (uint32_t unit = next; unit <= units.last; unit += kGroups) {
    AddExchanged(schedule.partial_sums[2 * static_cast<int64_t>(unit) * kTileVectors + number],
                 four);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_STREAM_K_SCHEDULE_H_
