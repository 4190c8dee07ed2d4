// Into how many blocks of a cluster the kernels of tma_tile.h divide the k of a tile.

#ifndef STRIDEWISE_MATMUL_TMA_CLUSTERS_H_
#define STRIDEWISE_MATMUL_TMA_CLUSTERS_H_

#include <algorithm>
#include <cstdint>

#include "matmul/cluster_sizes.h"
#include "matmul/split_cost.h"

namespace stridewise {

// Rounds of clusters of `blocks` blocks, each of which computes a tile at a time; where there are
// `tail_blocks`, one round, and the end of each tile's k is left to another cluster beside it.
struct TmaClusters {
  int blocks = 1;
  int64_t clusters = 0;  // That run at once.
  int tail_blocks = 0;
};

// The part of a tile policy's kClusterCost that adding the sums of a cluster costs.
inline constexpr double kTmaClusterCost = 0.5;

// What two clusters of a tile cost, over what one does.
inline constexpr double kTmaTailCost = 1.8;

// Returns the size of clusters that computes all tiles, of `steps` k steps each, in the least time:
// 1 where whole tiles are as fast. `split_cost` is the time, in steps of a block, that the blocks
// of a cluster take to add and store a tile. Two blocks run on a multiprocessor.
inline TmaClusters PlanTmaClusters(int64_t tiles, int64_t steps, double split_cost,
                                   int64_t multiprocessors) {
  constexpr int64_t kLeastSteps = 2;  // Of a block.
  const auto rounds = [&](int64_t clusters) {
    return static_cast<double>((tiles + clusters - 1) / clusters);
  };
  TmaClusters best = {1, std::max<int64_t>(1, 2 * multiprocessors), 0};
  double least = rounds(best.clusters) * static_cast<double>(steps);
  for (const ClusterSize& size : kClusterSizes) {
    const int64_t clusters = ClustersAtOnce(size, 2, multiprocessors);
    if (clusters == 0 || steps < kLeastSteps * size.blocks) break;
    const auto steps_of_block = static_cast<double>((steps + size.blocks - 1) / size.blocks);
    const auto keep = [&](double time, int tail_blocks) {
      if (time >= least) return;
      least = time;
      best = {size.blocks, clusters, tail_blocks};
    };
    keep(rounds(clusters) * (steps_of_block + split_cost), 0);
    for (const int tail_blocks : kTailBlocks) {
      constexpr int kComputeCapability = 90;
      if (tiles > clusters || !TailsFit({tiles, steps, 2, multiprocessors, kComputeCapability, 0},
                                        size.blocks, tail_blocks)) {
        continue;
      }
      const int64_t blocks = size.blocks + tail_blocks;
      keep(static_cast<double>((steps + blocks - 1) / blocks) + kTmaTailCost * split_cost,
           tail_blocks);
    }
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TMA_CLUSTERS_H_
