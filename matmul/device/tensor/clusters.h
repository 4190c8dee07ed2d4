// How many clusters of tensor_split's blocks run at once.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_CLUSTERS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_CLUSTERS_H_

#include <algorithm>
#include <cstdint>

#include "matmul/cluster_sizes.h"

namespace stridewise {

// Returns how many clusters of `blocks` blocks run at once, `resident` (1 or 2) blocks on each of
// the multiprocessors. Of a size that the table lacks, as many as of the next larger one.
inline int64_t ClustersAtOnce(int blocks, int resident, int64_t multiprocessors) {
  if (blocks == 1) return std::max<int64_t>(1, resident * multiprocessors);
  for (const ClusterSize& size : kClusterSizes) {
    if (size.blocks < blocks) continue;
    const int64_t clusters = size.clusters[resident - 1] * multiprocessors / kMultiprocessorsOfH200;
    return std::max<int64_t>(1, clusters);
  }
  return 1;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_CLUSTERS_H_
