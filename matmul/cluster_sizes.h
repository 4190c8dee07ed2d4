// How many clusters of blocks a device holds at once.

#ifndef STRIDEWISE_MATMUL_CLUSTER_SIZES_H_
#define STRIDEWISE_MATMUL_CLUSTER_SIZES_H_

#include <algorithm>
#include <cstdint>

namespace stridewise {

// A size of clusters, and the number of them that an H200 holds at once, with one block on each
// multiprocessor and with two. A cluster lies within one of the device's groups of multiprocessors,
// and above pairs the groups have a rest. Measured; with 16 blocks cudaOccupancyMaxActiveClusters()
// says 16 for two blocks, but one of those waits.
struct ClusterSize {
  int blocks;
  int clusters[2];
};
inline constexpr ClusterSize kClusterSizes[] = {
    {2, {66, 132}}, {3, {39, 79}}, {4, {30, 62}}, {6, {17, 39}},
    {8, {15, 30}},  {12, {7, 16}}, {16, {7, 15}},
};
inline constexpr int kMultiprocessorsOfH200 = 132;

// Returns how many clusters of this size run at once, with `resident` blocks on each of the
// multiprocessors: the groups of other devices are taken to be like an H200's, and more than two
// blocks to lie as pairs do. 0 where not even one cluster runs.
constexpr int64_t ClustersAtOnce(const ClusterSize& size, int64_t resident,
                                 int64_t multiprocessors) {
  const int64_t of_pairs = resident == 1 ? 2 * size.clusters[0] : resident * size.clusters[1];
  return of_pairs * multiprocessors / (2 * kMultiprocessorsOfH200);
}

// Returns the same for any number of blocks, and at least 1. Of a size that the table lacks, as
// many run as of the next larger one.
constexpr int64_t ClustersAtOnce(int blocks, int64_t resident, int64_t multiprocessors) {
  if (blocks == 1) return std::max<int64_t>(1, resident * multiprocessors);
  for (const ClusterSize& size : kClusterSizes) {
    if (size.blocks < blocks) continue;
    return std::max<int64_t>(1, ClustersAtOnce(size, resident, multiprocessors));
  }
  return 1;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CLUSTER_SIZES_H_
