// Into how many blocks of a cluster the kernels of tma_tile.h divide the k of a tile.

#ifndef STRIDEWISE_MATMUL_TMA_CLUSTERS_H_
#define STRIDEWISE_MATMUL_TMA_CLUSTERS_H_

#include <cstdint>

namespace stridewise {

// Rounds of clusters of `blocks` blocks, each of which computes a tile at a time.
struct TmaClusters {
  int64_t blocks = 1;
  int64_t clusters = 0;  // That run at once.
};

// The part of a tile policy's kSplitCost that adding the sums of a cluster costs.
inline constexpr double kTmaClusterCost = 0.5;

// Returns the size of clusters that computes all tiles, of `steps` k steps each, in the least time:
// 1 where whole tiles are as fast. `split_cost` is the time, in steps of a block, that the blocks
// of a cluster take to add and store a tile. Two blocks run on a multiprocessor.
inline TmaClusters PlanTmaClusters(int64_t tiles, int64_t steps, double split_cost,
                                   int64_t multiprocessors) {
  // The clusters that an H200 holds at once, as kClusterSizes of device/split_plan.h.
  constexpr int64_t kOfH200 = 132;
  constexpr TmaClusters kSizes[] = {{1, 264}, {2, 132}, {3, 79},  {4, 62},
                                    {6, 39},  {8, 30},  {12, 16}, {16, 15}};
  TmaClusters best;
  double least = 0;
  for (const TmaClusters& size : kSizes) {
    constexpr int64_t kLeastSteps = 2;  // Of a block.
    const int64_t clusters = size.clusters * multiprocessors / kOfH200;
    if (clusters == 0 || (size.blocks > 1 && steps < kLeastSteps * size.blocks)) break;
    const auto rounds = static_cast<double>((tiles + clusters - 1) / clusters);
    const auto steps_of_block = static_cast<double>((steps + size.blocks - 1) / size.blocks);
    const double time = rounds * (steps_of_block + (size.blocks > 1 ? split_cost : 0));
    if (best.clusters > 0 && time >= least) continue;
    least = time;
    best = {size.blocks, clusters};
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TMA_CLUSTERS_H_
