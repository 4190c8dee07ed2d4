// The worker's barrier of the grid, in cooperative launches: all blocks run at the same time, and
// everything that any thread did before the barrier is ordered before what any does behind it.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/executor/worker.h"

namespace stridewise::executor {

void Worker::GridBarrier(Lane& lane, uintptr_t pc) {
  if (!context_->cooperative) {
    if (!exact_) Suspect(lane, Stop::kExactly);
    ReportFatal(Check::kBarrierDivergence, lane, false, pc,
                "a barrier of the grid in a launch that is not cooperative");
  }
  Wait(lane, LaneState::kAtGridBarrier, pc);
}

bool Worker::ReleaseGridBarrier() {
  const Lane* waiting = nullptr;
  for (int i = 0; i < lane_count_ && waiting == nullptr; ++i) {
    if (lanes_[i].state == LaneState::kAtGridBarrier) waiting = &lanes_[i];
  }
  if (waiting == nullptr) return false;
  uint32_t latest = clock_;
  const Lane* first = nullptr;  // Of the block.
  for (int i = 0; i < lane_count_; ++i) {
    const Lane& lane = lanes_[i];
    const int in_block = i % block_lanes_;
    if (in_block >= static_cast<int>(context_->block_threads)) continue;
    latest = std::max(latest, lane.now.clock);
    if (in_block == 0) first = &lane;
    const bool comes = lane.state == LaneState::kAtGridBarrier;
    // The threads of a block come to it at one place, as to __syncthreads().
    if (comes && (first->state != lane.state || first->wait_pc == lane.wait_pc)) continue;
    if (!context_->exact) {
      context_->stop = Stop::kExactly;
      return false;
    }
    const Culprit other = CulpritOf(lane.now.thread, lane.wait_pc, false);
    if (comes) {
      Report(Check::kBarrierDivergence, first, false, first->wait_pc,
             "threads of one block wait at different barriers of the grid", &other);
    } else if (lane.state == LaneState::kDone) {
      Report(Check::kBarrierDivergence, waiting, false, waiting->wait_pc,
             absl::StrCat("waits at a barrier of the grid that thread (", other.thread.x, ",",
                          other.thread.y, ",", other.thread.z, ") of block (", other.block.x, ",",
                          other.block.y, ",", other.block.z, ") left the kernel without"));
    } else {
      Report(Check::kBarrierDivergence, waiting, false, waiting->wait_pc,
             "waits at a barrier of the grid that another thread does not come to", &other);
    }
    context_->stop = Stop::kFindings;
    return false;
  }
  grid_clock_ = clock_ = latest + 1;
  // No access since then can race with one before.
  global_exact_.Clear();
  for (int rank = 0; rank < static_cast<int>(blocks_.size()); ++rank) PassBarrier(rank);
  return true;
}

}  // namespace stridewise::executor
