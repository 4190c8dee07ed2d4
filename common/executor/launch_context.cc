#include "common/executor/launch_context.h"

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "common/executor/trace.h"

namespace stridewise::executor {

void LaunchContext::RequestFinerCells(Region* region, int granule_log2) {
  const std::lock_guard<std::mutex> lock(mutex_);
  requests_.emplace_back(region, granule_log2);
}

void LaunchContext::RequestLoads(Region* region) {
  const std::lock_guard<std::mutex> lock(mutex_);
  updated_.push_back(region);
}

void LaunchContext::ApplyRequests(int* shared_granule_log2) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [region, log2] : requests_) {
    int* granule = region == nullptr ? shared_granule_log2 : &region->granule_log2;
    *granule = std::min(*granule, log2);
  }
  requests_.clear();
  for (Region* region : updated_) region->updated = true;
  updated_.clear();
}

void LaunchContext::SetGeometry(const SimtIndex& grid_dim, const SimtIndex& block_dim,
                                const SimtIndex& cluster_dim, bool is_cooperative) {
  grid = grid_dim;
  block = block_dim;
  cluster = cluster_dim;
  block_threads = block.x * block.y * block.z;
  cluster_blocks = cluster.x * cluster.y * cluster.z;
  cooperative = is_cooperative;
  resident_blocks = cooperative ? grid.x * grid.y * grid.z : cluster_blocks;
  thread_stride = resident_blocks == 1 ? block_threads
                                       : (block_threads + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
}

SimtIndex LaunchContext::BlockAt(uint64_t number) const {
  const uint64_t of = number / cluster_blocks;
  const auto rank = static_cast<unsigned>(number % cluster_blocks);
  const unsigned cols = grid.x / cluster.x;
  const unsigned rows = grid.y / cluster.y;
  return {static_cast<unsigned>(of % cols) * cluster.x + rank % cluster.x,
          static_cast<unsigned>(of / cols % rows) * cluster.y + rank / cluster.x % cluster.y,
          static_cast<unsigned>(of / cols / rows) * cluster.z + rank / cluster.x / cluster.y};
}

}  // namespace stridewise::executor
