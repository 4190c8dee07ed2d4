// The worker's implementation of clusters: the shared memory of several blocks that run at the same
// time, and the barrier of their threads.
//
// Each block has an arena of shared memory; in all of them a variable lies at the same place. In
// the window of PTX a block's own arena starts at 0, and that of block r of its cluster at (r + 1)
// << 24.
//
// Another block's shared memory is there between its first thread's beginning and its last one's
// end. Whoever accesses it must have waited for one of its threads, at any barrier, and one of them
// must wait, before it ends, for what comes behind the access.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
namespace {

constexpr int kLog2WindowBytes = 24;  // Of one block.

}  // namespace

uint32_t Worker::SharedAddress(const Lane& lane, const void* pointer) const {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(pointer) - shared_;
  const uint32_t rank = static_cast<uint32_t>(offset) / kSharedArenaBytes - ClusterRank(lane);
  if (offset >= shared_size_ || rank >= context_->cluster_blocks) return kSharedArenaBytes - 256;
  const auto in_block = static_cast<uint32_t>(offset) % kSharedArenaBytes;
  const bool own = !IsRemote(lane, static_cast<uint32_t>(offset));
  return own ? in_block : (rank + 1) << kLog2WindowBytes | in_block;
}

uint32_t Worker::SharedOffset(const Lane& lane, uint64_t address) const {
  const auto low = static_cast<uint32_t>(address);
  const uint32_t window = low >> kLog2WindowBytes;
  const uint32_t in_block = low & ((1u << kLog2WindowBytes) - 1);
  if (in_block >= kSharedArenaBytes || window > context_->cluster_blocks) return shared_size_;
  if (window == 0) return lane.arena + in_block;
  return (ClusterRank(lane) + window - 1) * kSharedArenaBytes + in_block;
}

uint64_t Worker::MapToBlock(Lane& lane, const PtxOpcode& opcode, uint64_t address, uint64_t rank,
                            uintptr_t pc) {
  if (rank >= context_->cluster_blocks) {
    if (!exact_) Suspect(lane, Stop::kExactly);
    ReportFatal(Check::kCluster, lane, false, pc,
                absl::StrCat("shared memory of block ", rank, " of a cluster of ",
                             context_->cluster_blocks));
  }
  const uint64_t offset = PtxAddress(lane, opcode.space, address) - shared_;
  if (offset >= shared_size_) return address;
  const uint64_t in_block = offset % kSharedArenaBytes;
  return opcode.space == PtxSpace::kShared
             ? (rank + 1) << kLog2WindowBytes | in_block
             : shared_ + (ClusterRank(lane) + rank) * kSharedArenaBytes + in_block;
}

void Worker::CheckBlocksOutliveAccesses() {
  for (const auto& [key, access] : remote_accesses_) {
    if (context_->stop != Stop::kNo) return;
    const Lane& lane = lanes_[key.first];
    bool waited_for = false;
    for (int i = 0; i < block_lanes_ && !waited_for; ++i) {
      const Lane& other = lanes_[key.second * block_lanes_ + i];
      const uint64_t passed = other.cluster_passed;
      waited_for = other.now.After(lane.now.thread, access.clock) ||
                   (passed > 0 && (lane.cluster_arrivals.size() < passed ||
                                   lane.cluster_arrivals[passed - 1] > access.clock));
    }
    if (waited_for) continue;
    ReportOutside(Check::kCluster, lane, access.pc,
                  "an access to the shared memory of another block, which may have ended: none of "
                  "its threads waits for the access");
  }
}

uint64_t Worker::ClusterSpecial(const Lane& lane, PtxSpecial special) const {
  const SimtIndex& dim = context_->cluster;
  const SimtIndex& at = blocks_[lane.rank].index;
  const SimtIndex& grid = context_->grid;
  switch (special) {
    case PtxSpecial::kClusterRank:
      return static_cast<uint64_t>(lane.rank) - ClusterRank(lane);
    case PtxSpecial::kClusterBlocks:
      return context_->cluster_blocks;
    case PtxSpecial::kRankX:
      return at.x % dim.x;
    case PtxSpecial::kRankY:
      return at.y % dim.y;
    case PtxSpecial::kRankZ:
      return at.z % dim.z;
    case PtxSpecial::kBlocksX:
      return dim.x;
    case PtxSpecial::kBlocksY:
      return dim.y;
    case PtxSpecial::kBlocksZ:
      return dim.z;
    case PtxSpecial::kClusterX:
      return at.x / dim.x;
    case PtxSpecial::kClusterY:
      return at.y / dim.y;
    case PtxSpecial::kClusterZ:
      return at.z / dim.z;
    case PtxSpecial::kClustersX:
      return grid.x / dim.x;
    case PtxSpecial::kClustersY:
      return grid.y / dim.y;
    case PtxSpecial::kClustersZ:
      return grid.z / dim.z;
    default:
      return 0;
  }
}

void Worker::ClusterBarrier(Lane& lane, const PtxOpcode& opcode, uintptr_t pc) {
  if (context_->cooperative) {
    WrongBarrier(lane, pc, "the host executor has no barriers of clusters in cooperative launches");
  }
  const uint64_t arrivals = lane.cluster_arrivals.size();
  if (opcode.barrier == MbarrierOp::kArrive) {
    if (arrivals != lane.cluster_passed) {
      WrongBarrier(lane, pc,
                   "a thread arrives twice at the barrier of the cluster, without a wait");
    }
    // Behind fence.mbarrier_init a relaxed arrival publishes the barriers.
    const bool fenced = std::exchange(lane.mbarrier_init_fenced, false);
    if (opcode.orders || fenced) Release(lane, &cluster_barrier_);
    lane.cluster_arrivals.push_back(++lane.now.clock);
    const std::string error = cluster_barrier_.Arrive(1, 0, false);
    if (!error.empty()) WrongBarrier(lane, pc, absl::StrCat("the barrier of the cluster: ", error));
    return;
  }
  if (arrivals == lane.cluster_passed) {
    WrongBarrier(lane, pc, "a thread waits at the barrier of the cluster that has not arrived");
  }
  WaitForPhase(lane, &cluster_barrier_, arrivals - 1, false, pc);
  lane.cluster_passed = arrivals;
  if (opcode.orders) Acquire(lane, cluster_barrier_.acquired());
}

void Worker::CountEndedThreads() {
  for (int i = 0; i < lane_count_; ++i) {
    Lane& lane = lanes_[i];
    if (lane.state != LaneState::kDone || std::exchange(lane.left_cluster, true)) continue;
    if (lane.cluster_arrivals.size() > cluster_barrier_.phase()) {
      cluster_barrier_.ExpectOneFewer();
    } else {
      (void)cluster_barrier_.Arrive(1, 0, true);  // It has not arrived, so one is pending.
    }
  }
}

void Worker::JoinKnowledgeOfCluster(int rank) {
  std::vector<uint32_t> joined;
  const int first = rank * block_lanes_;
  for (int i = first; i < first + block_lanes_; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.state != LaneState::kAtBarrier) continue;
    if (lane.now.acquired == nullptr) continue;
    joined.resize(static_cast<size_t>(lane_count_));
    for (int j = 0; j < lane_count_; ++j) joined[j] = std::max(joined[j], lane.now.acquired[j]);
  }
  if (joined.empty()) return;
  for (int i = first; i < first + block_lanes_; ++i) {
    if (lanes_[i].state == LaneState::kAtBarrier) Acquire(lanes_[i], joined);
  }
}

}  // namespace stridewise::executor
