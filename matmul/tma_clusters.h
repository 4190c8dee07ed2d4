// Into how many blocks of a cluster the kernels of tma_tile.h divide the k of a tile.

#ifndef STRIDEWISE_MATMUL_TMA_CLUSTERS_H_
#define STRIDEWISE_MATMUL_TMA_CLUSTERS_H_

#include <algorithm>
#include <cstdint>

#include "matmul/cluster_sizes.h"

namespace stridewise {

// Rounds of clusters of `blocks` blocks, each of which computes a tile at a time.
struct TmaClusters {
  int64_t blocks = 1;
  int64_t clusters = 0;  // That run at once.
};

// The part of a tile policy's kClusterCost that adding the sums of a cluster costs.
inline constexpr double kTmaClusterCost = 0.5;

// Returns the size of clusters that computes all tiles, of `steps` k steps each, in the least time:
// 1 where whole tiles are as fast. `split_cost` is the time, in steps of a block, that the blocks
// of a cluster take to add and store a tile. Two blocks run on a multiprocessor.
inline TmaClusters PlanTmaClusters(int64_t tiles, int64_t steps, double split_cost,
                                   int64_t multiprocessors) {
  constexpr int64_t kLeastSteps = 2;  // Of a block.
  const auto rounds = [&](int64_t clusters) {
    return static_cast<double>((tiles + clusters - 1) / clusters);
  };
  TmaClusters best = {1, std::max<int64_t>(1, 2 * multiprocessors)};
  double least = rounds(best.clusters) * static_cast<double>(steps);
  for (const ClusterSize& size : kClusterSizes) {
    const int64_t clusters = ClustersAtOnce(size, 2, multiprocessors);
    if (clusters == 0 || steps < kLeastSteps * size.blocks) break;
    const auto steps_of_block = static_cast<double>((steps + size.blocks - 1) / size.blocks);
    const double time = rounds(clusters) * (steps_of_block + split_cost);
    if (time >= least) continue;
    least = time;
    best = {size.blocks, clusters};
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TMA_CLUSTERS_H_
