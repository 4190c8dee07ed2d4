// The second kernel of stream_k_schedule.h: computes the split tiles of C from the partial sums of
// their work units.

#ifndef STRIDEWISE_MATMUL_DEVICE_FIXUP_H_
#define STRIDEWISE_MATMUL_DEVICE_FIXUP_H_

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/split_plan.h"
#include "matmul/device/stream_k_schedule.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_store.h"

namespace stridewise {
namespace {  // Each file that includes this has kernels of its own.

// How a block divides its part of a split tile: kVectors neighbouring vectors, and for each kGroups
// threads, which add every kGroups-th unit's partial sums.
template <int kVectorsOfBlock, int kGroupsOfBlock>
struct FixupPolicy {
  static constexpr int kVectors = kVectorsOfBlock;
  static constexpr int kGroups = kGroupsOfBlock;
  static constexpr int kThreads = kVectors * kGroups;
};
using FixupOfFewUnits = FixupPolicy<64, 1>;
// With 66 units for each tile this takes 10 us less than adding one unit after the other.
using FixupOfManyUnits = FixupPolicy<32, 8>;

template <typename Tile, typename Policy>
__global__ void __launch_bounds__(Policy::kThreads)
    Fixup(Gemm<typename Tile::Types> gemm, StreamKSchedule schedule) {
  constexpr int kVectors = Policy::kVectors;
  static_assert(Tile::kBlockM * Tile::kBlockN % (kVector * kVectors) == 0, "blocks fill the tile");
  static_assert(kVectors % kWarpSize == 0, "whole warps store");
  const int lane = static_cast<int>(threadIdx.x) % kVectors;
  const int group = static_cast<int>(threadIdx.x) / kVectors;
  const int number = static_cast<int>(blockIdx.x) * kVectors + lane;
  const uint32_t tile = blockIdx.y;
  const UnitRange units = UnitsOfTile(schedule, tile);
  const TilePlace place = schedule.order.PlaceOf<Tile>(tile);
  auto c = gemm.c;
  c.data += place.index * gemm.stride_c;
  // That kernel stores nothing in these tiles.
  if (gemm.epilogue.ReadsC() && group == 0) {
    const VectorCoord coord = CoordOfVector<Tile>(number);
    const int64_t row = place.offset.row + coord.row;
    const int64_t col = place.offset.col + coord.col;
    if (row < c.rows && col < c.cols) {
      PrefetchRow(&c.data[row * c.ld + col], static_cast<int>(min(c.cols - col, int64_t{kVector})));
    }
  }
  WaitForPreviousKernel();  // The divisions above need not wait.
  if (units.first == units.last) return;
  float four[kVector] = {};
  AddPartialSums<Tile, Policy::kGroups>(schedule, tile, units, number, group, four);
  __shared__ float4 sums[Policy::kGroups][kVectors];
  if constexpr (Policy::kGroups > 1) {
    sums[group][lane] = Exchanged(four);
    __syncthreads();
    if (group > 0) return;
    for (int i = 1; i < Policy::kGroups; ++i) AddExchanged(sums[i][lane], four);
  }
  if (IsMadeOfVectors<typename Tile::Types::C>(c)) {
    StoreVector<Tile>(four, number, gemm.epilogue, c, place.offset);
  } else {
    StoreVectorsOfWarp<Tile>(four, number, gemm.epilogue, c, place.offset,
                             &sums[0][lane / kWarpSize * kWarpSize]);
  }
}

template <typename Tile, typename Policy>
LaunchStatus LaunchFixupWith(const Gemm<typename Tile::Types>& gemm, const SplitPlan& plan,
                             const StreamKSchedule& schedule, cudaStream_t stream) {
  // grid.y suffices: fewer tiles are split than blocks are resident, some thousands at most.
  return LaunchDependent(
      Fixup<Tile, Policy>,
      Grid{Tile::kBlockM * Tile::kBlockN / kVector / Policy::kVectors, plan.split_tiles},
      Block{Policy::kThreads}, 0, stream, gemm, schedule);
}

// Queues the fixup of the kernel before it on the stream; nothing where no tile was split.
template <typename Tile>
LaunchStatus LaunchFixup(const Gemm<typename Tile::Types>& gemm, const SplitPlan& plan,
                         const StreamKSchedule& schedule, cudaStream_t stream) {
  constexpr int kManyUnits = 16;  // Of a tile: two trips to memory for a thread.
  return plan.units > kManyUnits * plan.split_tiles
             ? LaunchFixupWith<Tile, FixupOfManyUnits>(gemm, plan, schedule, stream)
             : LaunchFixupWith<Tile, FixupOfFewUnits>(gemm, plan, schedule, stream);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_FIXUP_H_
