// What the workers of a launch share: what is launched, and why the launch stops.

#ifndef STRIDEWISE_COMMON_EXECUTOR_LAUNCH_CONTEXT_H_
#define STRIDEWISE_COMMON_EXECUTOR_LAUNCH_CONTEXT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/executor/device_memory.h"
#include "common/executor/executor.h"
#include "common/executor/launch.h"
#include "common/executor/shim/simt_entry_points.h"

namespace stridewise::executor {

// Why a launch stopped before its last block. For all reasons but kFindings it starts again from
// the beginning, in another mode.
enum class Stop {
  kNo,
  kOtherCells,  // The records of a buffer do not suffice: see RequestFinerCells().
  kOneCore,     // Blocks communicate with each other: their order matters.
  kExactly,     // There may be a mistake.
  kFindings,    // The wanted number of findings is reached, or one after which nothing can go on.
  kEnoughFindings,  // The wanted number is reached, and the launch is wanted all the same.
};

// The state that the workers of a launch share.
struct LaunchContext {
  const KernelCall* call = nullptr;
  const ExecutorOptions* options = nullptr;
  DeviceMemory* memory = nullptr;
  MemorySnapshot* before = nullptr;  // Of what the launch stores to.
  SimtIndex grid{1, 1, 1};
  SimtIndex block{1, 1, 1};
  SimtIndex cluster{1, 1, 1};
  uint32_t block_threads = 1;
  uint32_t cluster_blocks = 1;
  uint32_t resident_blocks = 1;  // That run at the same time: a cluster, or all if cooperative.
  bool cooperative = false;
  // Blocks are numbered cluster by cluster, and threads block by block, of which each takes this
  // number: where several blocks run at the same time whole warps.
  uint32_t thread_stride = 1;
  size_t dynamic_shared_bytes = 0;
  int shared_granule_log2 = 2;
  uint32_t first_clock = 1;
  bool one_core = true;
  bool exact = false;  // On one core, with exact_shadow.h.

  std::atomic<Stop> stop{Stop::kNo};
  std::string printed;  // By printf(); only one core prints.

  void SetGeometry(const SimtIndex& grid_dim, const SimtIndex& block_dim,
                   const SimtIndex& cluster_dim, bool is_cooperative);
  // Returns the index of the block with this number.
  SimtIndex BlockAt(uint64_t number) const;

  // Requests smaller cells for a region, or for shared memory where `region` is null.
  void RequestFinerCells(Region* region, int granule_log2);
  // Requests records of the loads from a region that this launch stores to.
  void RequestLoads(Region* region);
  // Fulfils the requests. REQUIRES: no worker runs.
  void ApplyRequests(int* shared_granule_log2);

 private:
  std::mutex mutex_;
  std::vector<std::pair<Region*, int>> requests_;
  std::vector<Region*> updated_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_LAUNCH_CONTEXT_H_
