// How many clusters of blocks a device holds at once.

#ifndef STRIDEWISE_MATMUL_CLUSTER_SIZES_H_
#define STRIDEWISE_MATMUL_CLUSTER_SIZES_H_

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

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CLUSTER_SIZES_H_
