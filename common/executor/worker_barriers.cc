// The worker's mbarriers, named barriers and cluster barriers: threads that arrive, threads that
// wait, and what that orders. Arriving releases, a wait that succeeds acquires.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
namespace {

// mbarrier.try_wait may return before its phase is complete. It does so only when nothing else can
// run, for kernels that then do something else, and for at most this number of rounds in a row.
constexpr int kMaxFruitlessWaits = 64;

constexpr int kLog2MbarrierBytes = 3;

void JoinTimes(const uint32_t* from, size_t count, uint32_t* to) {
  for (size_t i = 0; i < count; ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace

void Worker::WrongBarrier(Lane& lane, uintptr_t pc, std::string message) {
  if (!context_->exact) Suspect(lane, Stop::kExactly);
  ReportFatal(Check::kMbarrier, lane, false, pc, std::move(message));
}

std::string Worker::BarrierName(const Mbarrier* barrier) const {
  if (barrier == &cluster_barrier_) return "the barrier of the cluster";
  for (const RunningBlock& block : blocks_) {
    for (int i = 0; i < kNamedBarriers; ++i) {
      if (barrier == &block.named_barriers[i]) return absl::StrCat("barrier ", i);
    }
  }
  for (const auto& [offset, mbarrier] : mbarriers_) {
    if (barrier != &mbarrier) continue;
    const Variable* variable = &variables_.front();
    for (const Variable& v : variables_) {
      if (v.offset <= offset % kSharedArenaBytes) variable = &v;
    }
    return absl::StrCat("the mbarrier at byte ", offset % kSharedArenaBytes - variable->offset,
                        " of a __shared__ variable");
  }
  return "a barrier";
}

Mbarrier* Worker::FindMbarrier(Lane& lane, uintptr_t address, uintptr_t pc) {
  const uintptr_t offset = address - reinterpret_cast<uintptr_t>(shared_memory_->As<void>());
  const auto found = mbarriers_.find(static_cast<uint32_t>(offset));
  if (offset >= shared_size_ || found == mbarriers_.end()) {
    WrongBarrier(lane, pc, "an mbarrier is used that no thread has initialised");
  }
  if (context_->options->check) {
    CheckSharedApart(lane, found->first, kLog2MbarrierBytes, AccessOp::kAtomic, pc);
  }
  return &found->second;
}

uint64_t Worker::ExecuteMbarrier(const PtxOpcode& opcode, Lane& lane, uintptr_t address,
                                 uint64_t value, uintptr_t pc) {
  const bool may_be_remote = opcode.barrier == MbarrierOp::kArrive ||
                             opcode.barrier == MbarrierOp::kExpectBytes ||
                             opcode.barrier == MbarrierOp::kCompleteBytes;
  if (!may_be_remote && address - shared_ < shared_size_ &&
      IsRemote(lane, static_cast<uint32_t>(address - shared_))) {
    WrongBarrier(lane, pc, "an mbarrier of another block, at which a thread may only arrive");
  }
  if (opcode.barrier == MbarrierOp::kInit) {
    const uintptr_t offset = address - reinterpret_cast<uintptr_t>(shared_memory_->As<void>());
    if (offset >= shared_size_) {
      WildAddress(lane, address, kLog2MbarrierBytes, AccessOp::kStore, pc);
    }
    const auto key = static_cast<uint32_t>(offset);
    const auto before = mbarriers_.find(key);
    if (before != mbarriers_.end()) {
      WrongBarrier(lane, pc,
                   absl::StrCat(BarrierName(&before->second),
                                " is initialised again, without mbarrier.inval, while ",
                                before->second.PendingText()));
    }
    if (value == 0 || value > Mbarrier::kMaxCount) {
      WrongBarrier(lane, pc,
                   absl::StrCat("mbarrier.init with a count of ", value, "; it can be 1 to ",
                                Mbarrier::kMaxCount));
    }
    if (context_->options->check) {
      CheckSharedApart(lane, key, kLog2MbarrierBytes, AccessOp::kStore, pc);
    }
    mbarriers_.emplace(key, Mbarrier(static_cast<uint32_t>(value)));
    mbarrier_inits_[key] = {lane.index, lane.now.clock, pc};
    return 0;
  }
  Mbarrier* const barrier = FindMbarrier(lane, address, pc);
  const auto check = [&](const std::string& error) {
    if (!error.empty()) WrongBarrier(lane, pc, absl::StrCat(BarrierName(barrier), ": ", error));
  };
  switch (opcode.barrier) {
    case MbarrierOp::kInvalidate: {
      bool in_use = !barrier->untouched();
      for (int i = 0; i < lane_count_; ++i) {
        in_use |= lanes_[i].state == LaneState::kBlocked && lanes_[i].blocked_by == barrier;
      }
      if (in_use) check(absl::StrCat("is invalidated while ", barrier->PendingText()));
      const auto offset = address - reinterpret_cast<uintptr_t>(shared_memory_->As<void>());
      if (context_->options->check) {
        CheckSharedApart(lane, static_cast<uint32_t>(offset), kLog2MbarrierBytes, AccessOp::kStore,
                         pc);
      }
      mbarriers_.erase(static_cast<uint32_t>(offset));
      return 0;
    }
    case MbarrierOp::kArrive: {
      const uint64_t state = barrier->State();
      const auto count = opcode.expects_bytes ? 1 : static_cast<uint32_t>(value);
      if (opcode.never_completes && count >= barrier->pending()) {
        check(absl::StrCat("arrive.noComplete with ", count, " where ", barrier->PendingText()));
      }
      if (opcode.orders) Release(lane, barrier);
      check(barrier->Arrive(count, opcode.expects_bytes ? static_cast<int64_t>(value) : 0,
                            opcode.drops));
      return state;
    }
    case MbarrierOp::kExpectBytes:
      check(barrier->ExpectBytes(static_cast<int64_t>(value)));
      return 0;
    case MbarrierOp::kCompleteBytes:
      check(barrier->CompleteBytes(static_cast<int64_t>(value)));
      return 0;
    default: {  // kWait
      const uint64_t running = barrier->phase();
      const bool waits =
          opcode.by_parity ? running % 2 == value % 2 : running == Mbarrier::PhaseOf(value);
      if (waits && !WaitForPhase(lane, barrier, running, true, pc)) return 0;
      if (opcode.orders) Acquire(lane, barrier->acquired());
      return 1;
    }
  }
}

// A GPU takes st.async and red.async for illegal instructions in a block that is alone.
void Worker::CompleteBytes(Lane& lane, uintptr_t address, int64_t bytes, uintptr_t pc) {
  if (context_->cluster_blocks == 1) {
    if (!exact_) Suspect(lane, Stop::kExactly);
    ReportFatal(Check::kCluster, lane, true, pc, "st.async or red.async in a cluster of one block");
  }
  Mbarrier* const barrier = FindMbarrier(lane, address, pc);
  Release(lane, barrier);
  const std::string error = barrier->CompleteBytes(bytes);
  if (!error.empty()) WrongBarrier(lane, pc, absl::StrCat(BarrierName(barrier), ": ", error));
}

// The copies arrive at once, and so does the thread. Without noinc the pending count grows by the
// one that the arrival takes away.
void Worker::ArriveAfterCopies(Lane& lane, uintptr_t address, bool counts, uintptr_t pc) {
  Mbarrier* const barrier = FindMbarrier(lane, address, pc);
  ++lane.async_group;
  CpAsyncWait(lane, 0);
  --lane.async_group;
  Release(lane, barrier);
  if (!counts) return;
  const std::string error = barrier->Arrive(1, 0, false);
  if (!error.empty()) WrongBarrier(lane, pc, absl::StrCat(BarrierName(barrier), ": ", error));
}

void Worker::NamedBarrier(Lane& lane, uint64_t id, uint64_t count, bool waits, uintptr_t pc) {
  const uint64_t threads = context_->block_threads;
  const uint64_t rounded = (threads + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
  if (id >= kNamedBarriers) WrongBarrier(lane, pc, absl::StrCat("barrier ", id, " of 16"));
  if (count == 0 || count > rounded || (count % kWarpLanes != 0 && count != threads)) {
    WrongBarrier(lane, pc,
                 absl::StrCat("barrier ", id, " of ", count, " threads, in a block of ", threads,
                              "; it needs a multiple of 32"));
  }
  Mbarrier& barrier = blocks_[lane.rank].named_barriers[id];
  const auto expected = static_cast<uint32_t>(std::min(count, threads));
  if (barrier.untouched()) {
    barrier.Expect(expected);
  } else if (barrier.expected() != expected) {
    WrongBarrier(lane, pc,
                 absl::StrCat("barrier ", id, " of ", count,
                              " threads, where others "
                              "came to it with a count of ",
                              barrier.expected()));
  }
  const uint64_t phase = barrier.phase();
  Release(lane, &barrier);
  (void)barrier.Arrive(1, 0, false);  // Of a phase that is not complete: it cannot fail.
  if (!waits) return;
  WaitForPhase(lane, &barrier, phase, false, pc);
  Acquire(lane, barrier.acquired());
}

void Worker::Release(Lane& lane, Mbarrier* barrier) {
  if (!context_->options->check) return;
  std::vector<uint32_t>& times = *barrier->released();
  times.resize(static_cast<size_t>(cluster_lanes_));
  if (lane.now.acquired != nullptr) JoinTimes(lane.now.acquired, times.size(), times.data());
  const Warp& warp = warps_[lane.index / kWarpLanes];
  if (context_->cluster_blocks > 1) {
    // What other blocks are to know of this one; its own threads have this from its barrier.
    uint32_t* const of_block = times.data() + lane.rank * block_lanes_;
    for (int i = 0; i < block_lanes_; ++i) {
      of_block[i] = std::max(of_block[i], lane.now.barrier_clock);
    }
  }
  if (lane.now.known != nullptr) {
    JoinTimes(lane.now.known, warp.lanes, times.data() + IndexInCluster(warp.first));
  }
  uint32_t& time = times[IndexInCluster(lane.index)];
  time = std::max(time, ++lane.now.clock);
}

void Worker::Acquire(Lane& lane, const std::vector<uint32_t>& times) {
  if (times.empty()) return;
  if (lane.now.acquired == nullptr) lane.acquired.assign(static_cast<size_t>(cluster_lanes_), 0);
  lane.now.acquired = lane.acquired.data();
  JoinTimes(times.data(), times.size(), lane.acquired.data());
}

void Worker::JoinAcquired(Warp* warp, uint32_t mask) {
  std::vector<uint32_t> joined;
  for (int l = 0; l < warp->lanes; ++l) {
    const Lane& lane = lanes_[warp->first + l];
    if ((mask >> l & 1) == 0 || lane.now.acquired == nullptr) continue;
    joined.resize(static_cast<size_t>(cluster_lanes_));
    JoinTimes(lane.now.acquired, joined.size(), joined.data());
  }
  for (int l = 0; l < warp->lanes; ++l) {
    if (mask >> l & 1) Acquire(lanes_[warp->first + l], joined);
  }
}

bool Worker::WaitForPhase(Lane& lane, const Mbarrier* barrier, uint64_t phase, bool may_give_up,
                          uintptr_t pc) {
  if (barrier->phase() != phase) return true;
  lane.blocked_by = barrier;
  lane.blocked_phase = phase;
  lane.may_give_up = may_give_up;
  lane.gave_up = false;
  Wait(lane, LaneState::kBlocked, pc);
  return !lane.gave_up;
}

bool Worker::ReleaseBlocked() {
  bool released = ReleaseWarpgroups();
  if (context_->stop != Stop::kNo) return false;
  if (!cluster_barrier_.untouched()) CountEndedThreads();
  if (blocks_.size() > 1) {  // One need not wait for the others.
    released |= ReleaseBarriers();
    if (context_->stop != Stop::kNo) return false;
  }
  bool blocked = false;
  do {
    for (int i = 0; i < lane_count_; ++i) {
      Lane& lane = lanes_[i];
      blocked |= lane.state == LaneState::kAtWarpgroup;
      if (lane.state != LaneState::kBlocked) continue;
      blocked = true;
      if (lane.blocked_by->phase() == lane.blocked_phase) continue;
      lane.state = LaneState::kReady;
      released = true;
    }
    // Only when no thread can go on does a bulk copy arrive.
  } while (blocked && !released && FinishBulkLoad() && context_->stop == Stop::kNo);
  if (context_->stop != Stop::kNo) return false;
  if (released || !blocked) {
    fruitless_waits_ = 0;
    return released;
  }
  if (fruitless_waits_++ < kMaxFruitlessWaits) {
    for (int i = 0; i < lane_count_; ++i) {
      Lane& lane = lanes_[i];
      if (lane.state != LaneState::kBlocked || !lane.may_give_up) continue;
      lane.gave_up = true;
      lane.state = LaneState::kReady;
      released = true;
    }
  }
  if (!released) ReportDeadlock();
  return released;
}

void Worker::ReportDeadlock() {
  if (!context_->exact) {
    context_->stop = Stop::kExactly;
    return;
  }
  for (int i = 0; i < lane_count_ && context_->stop == Stop::kNo; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.state == LaneState::kAtWarpgroup) {
      Report(Check::kBarrierDivergence, &lane, false, lane.wait_pc,
             "a wgmma waits for threads of its warpgroup that do not come to it");
    }
    if (lane.state != LaneState::kBlocked) continue;
    Report(Check::kDeadlock, &lane, false, lane.wait_pc,
           absl::StrCat("waits for ", BarrierName(lane.blocked_by), ", where ",
                        lane.blocked_by->PendingText(), ", and no thread can go on"));
  }
  context_->stop = Stop::kFindings;
}

}  // namespace stridewise::executor
