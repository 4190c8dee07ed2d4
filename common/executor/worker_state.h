// What a worker keeps while it runs clusters of blocks: their threads and their shared memory, who
// accessed it, barriers, copies that are on their way, and the results of a launch.

#ifndef STRIDEWISE_COMMON_EXECUTOR_WORKER_STATE_H_
#define STRIDEWISE_COMMON_EXECUTOR_WORKER_STATE_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/executor/access_record.h"
#include "common/executor/async_reads.h"
#include "common/executor/device_memory.h"
#include "common/executor/exact_shadow.h"
#include "common/executor/fiber.h"
#include "common/executor/finding.h"
#include "common/executor/lane.h"
#include "common/executor/launch_context.h"
#include "common/executor/profile.h"
#include "common/executor/ptx/mbarrier.h"
#include "common/executor/ptx/program.h"
#include "common/executor/publication.h"
#include "common/executor/running_block.h"
#include "common/executor/shadow.h"

namespace stridewise::executor {

class WorkerState {
 public:
  static constexpr uint32_t kSharedArenaBytes = 512u << 10;  // Of a block's shared memory.
  static constexpr int kMaxClusterBlocks = 16;
  // Of a cooperative launch. Offsets in the shared memory of all its blocks have 32 bits.
  static constexpr uint32_t kMaxResidentBlocks = 8191;
  static constexpr uint32_t kMaxResidentThreads = 1u << 20;

 protected:
  // Offsets are those in the shared memory of all running blocks.
  static bool IsRemote(const Lane& lane, uint32_t offset) {
    return (offset ^ lane.arena) >= kSharedArenaBytes;
  }
  // The rank of the first block of the lane's cluster.
  uint32_t ClusterRank(const Lane& lane) const {
    return static_cast<uint32_t>(lane.rank) / context_->cluster_blocks * context_->cluster_blocks;
  }
  // The number of a lane in its cluster, where times of other threads are kept.
  int IndexInCluster(int lane) const { return lane % cluster_lanes_; }
  // Returns the variable that holds these bytes; null where there is none.
  const Variable* VariableAt(uint32_t offset, uint32_t bytes) const {
    if (offset / kSharedArenaBytes >= blocks_.size()) return nullptr;
    const uint32_t in_block = offset % kSharedArenaBytes;
    for (const Variable& v : variables_) {
      if (in_block >= v.offset && in_block + bytes <= v.offset + v.bytes) return &v;
    }
    return nullptr;
  }

  LaunchContext* context_ = nullptr;
  // What every event asks the launch, one load away.
  DeviceMemory* memory_ = nullptr;
  uintptr_t shared_ = 0;      // shared_memory_.
  uint32_t shared_size_ = 0;  // Its bytes.
  uint64_t max_steps_ = 0;
  bool check_ = true;
  bool profile_events_ = true;
  bool one_core_ = true;
  bool exact_ = false;

  std::unique_ptr<FiberStacks> stacks_;
  std::unique_ptr<LazyPages> shared_memory_, shared_written_, shared_cells_;
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  std::array<uint8_t, kWarpLanes> lane_order_;
  std::vector<int> warp_order_;

  std::vector<RunningBlock> blocks_;
  int lane_count_ = 0;     // Of the running blocks.
  int block_lanes_ = 0;    // Lanes from one of them to the next.
  int cluster_lanes_ = 0;  // Of a cluster.
  int warp_count_ = 0;
  uint32_t clock_ = 1;
  uint32_t cluster_clock_ = 1;  // When the cluster started: shared memory's oldest time.
  uint32_t grid_clock_ = 1;     // When the launch did, or left the grid's barrier: global memory's.
  std::vector<Variable> variables_;
  Variable recent_ = {};  // That of these which was last asked for.
  uint32_t shared_end_ = 0;
  ExactShadow global_exact_, shared_exact_;
  Publications publications_;                             // Used in exact runs.
  std::unordered_map<const char*, PtxProgram> programs_;  // Of asm statements, by their texts.

  AsyncReads async_reads_;
  Culprit async_reader_;
  std::vector<BulkLoad> bulk_loads_;  // That have not arrived.

  std::map<uint32_t, Mbarrier> mbarriers_;  // By their offsets in shared memory.
  struct MbarrierInit {
    int lane;
    uint32_t clock;
    uintptr_t pc;
  };
  std::map<uint32_t, MbarrierInit> mbarrier_inits_;  // Of these.
  Mbarrier cluster_barrier_;
  // The last access of each lane to the shared memory of each other block, by lane and rank.
  struct RemoteAccess {
    uint32_t clock;
    uintptr_t pc;
  };
  std::map<std::pair<int, int>, RemoteAccess> remote_accesses_;
  int fruitless_waits_ = 0;  // Rounds since a lane was last resumed by a barrier.

  Profile profile_;
  AccessRecord accesses_;
  std::vector<Finding> findings_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_WORKER_STATE_H_
