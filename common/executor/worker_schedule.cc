// Which lane of a worker runs next: each until it has to wait, warp after warp, and all of a block
// again behind a barrier.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/executor/reconvergence.h"
#include "common/executor/worker.h"

namespace stridewise::executor {

// Runs a warp until every lane waits for lanes of other warps or is done. Returns false if the
// launch is to stop.
bool Worker::RunWarp(Warp* warp) {
  for (;;) {
    for (const int i : lane_order_) {
      if (i >= warp->lanes) continue;
      Lane* lane = &lanes_[warp->first + i];
      if (lane->state != LaneState::kReady) continue;
      Resume(lane);
      if (context_->stop != Stop::kNo) return false;
    }
    bool trace_full = false;
    bool at_sync = false;
    bool blocked = false;
    for (int i = 0; i < warp->lanes; ++i) {
      trace_full |= lanes_[warp->first + i].state == LaneState::kTraceFull;
      at_sync |= lanes_[warp->first + i].state == LaneState::kAtWarpSync;
      blocked |= lanes_[warp->first + i].state == LaneState::kBlocked ||
                 lanes_[warp->first + i].state == LaneState::kAtWarpgroup;
    }
    if (trace_full) {
      ReleaseTraceFull(warp);
    } else if (!at_sync) {
      // Blocked lanes may still come to what the others have executed.
      if (!blocked) Replay(warp);
      return true;
    } else if (!ReleaseWarpSync(warp)) {
      if (blocked) return true;
      for (int i = 0; i < warp->lanes; ++i) {
        const Lane& lane = lanes_[warp->first + i];
        if (lane.state != LaneState::kAtWarpSync) continue;
        if (!context_->exact) {
          context_->stop = Stop::kExactly;
        } else {
          Report(Check::kBarrierDivergence, &lane, false, lane.wait_pc,
                 absl::StrFormat("a warp synchronisation with mask %#x waits for lanes that do not "
                                 "come to it",
                                 lane.wait_mask));
          context_->stop = Stop::kFindings;
        }
        return false;
      }
    }
  }
}

void Worker::Resume(Lane* lane) {
  running_lane = lane;
  lane->fiber.Resume();
  running_lane = nullptr;
}

void Worker::ReleaseTraceFull(Warp* warp) {
  bool together = true;
  for (int i = 0; i < warp->lanes; ++i) {
    const Lane& lane = lanes_[warp->first + i];
    // A lane that waits elsewhere has diverged from the others.
    together &= lane.state == LaneState::kTraceFull || lane.path.size() == 0;
  }
  together = together && (warp->trace.Together() || SamePath(warp->trace.Traces()));
  if (together) Replay(warp);
  for (int i = 0; i < warp->lanes; ++i) {
    Lane& lane = lanes_[warp->first + i];
    if (lane.state != LaneState::kTraceFull) continue;
    lane.state = LaneState::kReady;
    if (!together) lane.event_limit *= 2;
  }
}

bool Worker::ReleaseBarriers() {
  bool released = false;
  for (int rank = 0; rank < static_cast<int>(blocks_.size()); ++rank) {
    released |= ReleaseBarrier(rank);
    if (context_->stop != Stop::kNo) return false;
  }
  return released;
}

// Resumes the lanes of a block if all wait for its barrier or are done. Returns false when one
// waits elsewhere, all are done or the launch ends.
bool Worker::ReleaseBarrier(int rank) {
  const int first = rank * block_lanes_;
  const int end = first + static_cast<int>(context_->block_threads);
  const Lane* waiting = nullptr;
  const Lane* elsewhere = nullptr;
  const Lane* gone = nullptr;
  uint32_t latest = clock_;
  int predicates = 0;
  for (int i = first; i < end; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.state != LaneState::kAtBarrier && lane.state != LaneState::kDone) return false;
    latest = std::max(latest, lane.now.clock);
    if (lane.state == LaneState::kDone) {
      if (gone == nullptr) gone = &lane;
      continue;
    }
    predicates += lane.predicate != 0;
    if (waiting == nullptr) waiting = &lane;
    if (lane.wait_pc != waiting->wait_pc && elsewhere == nullptr) elsewhere = &lane;
  }
  clock_ = latest + 1;
  if (waiting == nullptr) return false;
  if (elsewhere != nullptr || gone != nullptr) {
    if (!context_->exact) {
      context_->stop = Stop::kExactly;
      return false;
    }
    if (elsewhere != nullptr) {
      const Culprit other = CulpritOf(elsewhere->now.thread, elsewhere->wait_pc, false);
      Report(Check::kBarrierDivergence, waiting, false, waiting->wait_pc,
             "threads of one block wait at different barriers", &other);
    } else {
      Report(Check::kBarrierDivergence, waiting, false, waiting->wait_pc,
             absl::StrCat("waits at a barrier that thread (", gone->thread.x, ",", gone->thread.y,
                          ",", gone->thread.z, ") of the block left the kernel without"));
    }
    if (context_->stop != Stop::kNo) return false;
  }
  for (int i = first; i < end; ++i) lanes_[i].predicate = predicates;
  PassBarrier(rank);
  return true;
}

void Worker::PassBarrier(int rank) {
  const int first = rank * block_lanes_;
  const int end = first + static_cast<int>(context_->block_threads);
  if (context_->exact) publications_.Barrier(first);
  ++profile_.barriers;
  ++blocks_[rank].barriers_passed;
  if (context_->cluster_blocks > 1) JoinKnowledgeOfCluster(rank);
  for (int i = first; i < end; i += kWarpLanes) warps_[i / kWarpLanes].known_in_use = false;
  for (int i = first; i < end; ++i) {
    Lane& lane = lanes_[i];
    lane.now.clock = lane.now.barrier_clock = clock_;
    lane.now.known = nullptr;
    if (context_->cluster_blocks == 1) lane.now.acquired = nullptr;
    if (lane.state != LaneState::kDone) lane.state = LaneState::kReady;
  }
}

}  // namespace stridewise::executor
