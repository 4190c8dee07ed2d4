// The worker's implementation of synchronisation and exchange between lanes, and of shared memory.

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/executor/warp_matrices.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
namespace {

// Of all GPUs (CUDA C++ Programming Guide, "Technical Specifications").
constexpr size_t kMaxStaticSharedBytes = size_t{48} << 10;
constexpr uint32_t kVariableAlignment = 128;

int Log2(size_t bytes) { return __builtin_ctzll(bytes); }

}  // namespace

void Worker::Barrier(Lane& lane, uintptr_t pc) { BarrierCount(lane, 0, pc); }

int Worker::BarrierCount(Lane& lane, int predicate, uintptr_t pc) {
  lane.predicate = predicate;
  Wait(lane, LaneState::kAtBarrier, pc);
  return lane.predicate;
}

void Worker::WarpSync(Lane& lane, uint32_t mask, uintptr_t pc) {
  // A mask may name lanes that a last, smaller warp does not have.
  const int lanes = warps_[lane.index / kWarpLanes].lanes;
  lane.wait_mask = lanes == kWarpLanes ? mask : mask & ((1u << lanes) - 1);
  Wait(lane, LaneState::kAtWarpSync, pc);
}

uint64_t Worker::Shuffle(Lane& lane, uint32_t mask, uint64_t value, int mode, int argument,
                         int width, uintptr_t pc) {
  const int self = lane.index % kWarpLanes;
  const int base = self & ~(width - 1);
  const int kSources[] = {base + (argument & (width - 1)), self - argument, self + argument,
                          self ^ argument};
  const int source = kSources[mode];
  lane.offer = value;
  // Beyond the segment a lane gets its own value back.
  lane.source = source < base || source >= base + width ? self : source;
  WarpSync(lane, mask, pc);
  return lane.result;
}

uint32_t Worker::Ballot(Lane& lane, uint32_t mask, int predicate, uintptr_t pc) {
  lane.offer = predicate != 0;
  lane.source = Lane::kBallot;
  WarpSync(lane, mask, pc);
  return static_cast<uint32_t>(lane.result);
}

// A mask without lanes stands for all that come, once no lane of the warp can run on.
uint32_t Worker::ActiveMask(Lane& lane, uintptr_t pc) {
  WarpSync(lane, 0, pc);
  return static_cast<uint32_t>(lane.result);
}

// Resumes the lanes that ask for the active ones at the place of the first that does. It orders no
// accesses to memory. Returns false if there are none.
bool Worker::ReleaseActiveMask(Warp* warp) {
  uint32_t mask = 0;
  uintptr_t pc = 0;
  for (int l = 0; l < warp->lanes; ++l) {
    const Lane& lane = lanes_[warp->first + l];
    if (lane.state != LaneState::kAtWarpSync || lane.wait_mask != 0) continue;
    if (mask == 0) pc = lane.wait_pc;
    if (lane.wait_pc == pc) mask |= 1u << l;
  }
  for (int l = 0; l < warp->lanes; ++l) {
    if ((mask >> l & 1) == 0) continue;
    lanes_[warp->first + l].result = mask;
    lanes_[warp->first + l].state = LaneState::kReady;
  }
  return mask != 0;
}

// Resumes the lanes whose masks all agree and are complete. Returns false if there are none.
bool Worker::ReleaseWarpSync(Warp* warp) {
  bool released = false;
  for (int i = 0; i < warp->lanes; ++i) {
    const Lane& lane = lanes_[warp->first + i];
    if (lane.state != LaneState::kAtWarpSync) continue;
    const uint32_t mask = lane.wait_mask;
    const auto waits_too = [&](int l) {
      const Lane& other = lanes_[warp->first + l];
      return l < warp->lanes && other.state == LaneState::kAtWarpSync && other.wait_mask == mask &&
             other.instruction == lane.instruction &&
             (lane.instruction == nullptr || other.wait_pc == lane.wait_pc);
    };
    bool complete = (mask >> i & 1) != 0;
    for (int l = 0; l < kWarpLanes && complete; ++l) complete = !(mask >> l & 1) || waits_too(l);
    if (!complete) continue;
    if (lane.instruction != nullptr) {
      // It orders no accesses to memory.
      ExecuteMatrices(lane.instruction->opcode, &lanes_[warp->first], warp->lanes);
    } else {
      JoinClocks(warp, mask);
      Exchange(warp, mask);
    }
    for (int l = 0; l < kWarpLanes; ++l) {
      if (mask >> l & 1) lanes_[warp->first + l].state = LaneState::kReady;
    }
    released = true;
  }
  return released || ReleaseActiveMask(warp);
}

void Worker::Exchange(Warp* warp, uint32_t mask) {
  uint64_t ballot = 0;
  for (int l = 0; l < warp->lanes; ++l) {
    if ((mask >> l & 1) && lanes_[warp->first + l].offer != 0) ballot |= uint64_t{1} << l;
  }
  for (int l = 0; l < warp->lanes; ++l) {
    if ((mask >> l & 1) == 0) continue;
    Lane& lane = lanes_[warp->first + l];
    if (lane.source == Lane::kBallot) {
      lane.result = ballot;
    } else if (lane.source < warp->lanes && (mask >> lane.source & 1)) {
      lane.result = lanes_[warp->first + lane.source].offer;
    } else {
      lane.result = ~uint64_t{0};  // From a lane that does not take part: undefined, so NaN.
    }
  }
}

// Orders all accesses of the lanes in `mask`, and all that any of them knows, before their present.
void Worker::JoinClocks(Warp* warp, uint32_t mask) {
  JoinAcquired(warp, mask);
  if (warp->known == nullptr) warp->known.reset(new typename decltype(warp->known)::element_type);
  if (!std::exchange(warp->known_in_use, true)) {
    for (auto& row : *warp->known) row.fill(0);
    for (int l = 0; l < warp->lanes; ++l) {
      lanes_[warp->first + l].now.known = (*warp->known)[l].data();
    }
  }
  if (context_->exact) publications_.WarpSync(warp->first, mask);
  std::array<uint32_t, kWarpLanes> joined{};
  for (int l = 0; l < kWarpLanes; ++l) {
    if ((mask >> l & 1) == 0) continue;
    for (int k = 0; k < kWarpLanes; ++k) joined[k] = std::max(joined[k], (*warp->known)[l][k]);
    joined[l] = std::max(joined[l], lanes_[warp->first + l].now.clock + 1);
  }
  for (int l = 0; l < kWarpLanes; ++l) {
    if ((mask >> l & 1) == 0) continue;
    (*warp->known)[l] = joined;
    ++lanes_[warp->first + l].now.clock;
  }
}

// Blocks print in their order: on several cores the launch starts again on one.
void Worker::Print(Lane& lane, const std::string& text) {
  if (!context_->one_core) Suspect(lane, Stop::kOneCore);
  context_->printed += text;
}

void Worker::Fail(Lane& lane, const std::string& message, uintptr_t pc) {
  if (!context_->exact) Suspect(lane, Stop::kExactly);
  ReportFatal(Check::kAssertion, lane, false, pc, message);
}

// The bytes are poison, and count as uninitialised, until the wait delivers them: an early read is
// a finding, and other data stored there meanwhile is overwritten.
void Worker::CpAsync(Lane& lane, void* to, const void* from, size_t bytes, size_t zero_bytes,
                     uintptr_t pc) {
  const size_t read = bytes - zero_bytes;
  if (read == bytes) {
    Access(lane, reinterpret_cast<uintptr_t>(from), Log2(bytes), AccessOp::kLoad, pc);
  } else {
    for (size_t i = 0; i < read; ++i) {
      Access(lane, reinterpret_cast<uintptr_t>(from) + i, 0, AccessOp::kLoad, pc);
    }
  }
  StoreCopied(lane, reinterpret_cast<uintptr_t>(to), Log2(bytes), pc);
  const auto offset = static_cast<uint8_t*>(to) - shared_memory_->As<uint8_t>();
  if (offset >= 0 && offset + bytes <= size_t{shared_size_}) {
    std::memset(to, 0xff, bytes);
    std::memset(shared_written_->As<uint8_t>() + offset, 0, bytes);
  }
  lane.async_copies.push_back({static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), bytes,
                               zero_bytes, pc, lane.async_group});
}

void Worker::CpAsyncWait(Lane& lane, unsigned groups_in_flight) {
  auto& copies = lane.async_copies;
  size_t kept = 0;
  for (size_t i = 0; i < copies.size(); ++i) {
    const Lane::AsyncCopy copy = copies[i];
    if (copy.group + groups_in_flight >= lane.async_group) {
      copies[kept++] = copy;
      continue;
    }
    // The copy is an access now: it races with accesses since its issue.
    if (check_) {
      const auto offset = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(copy.to) -
                                                shared_);  // Checked at the issue.
      CheckSharedApart(lane, offset, Log2(copy.bytes), AccessOp::kStore, copy.pc);
    }
    const size_t read = copy.bytes - copy.zero_bytes;
    std::memcpy(copy.to, copy.from, read);
    std::memset(copy.to + read, 0, copy.zero_bytes);
  }
  copies.resize(kept);
}

void Worker::FindSharedVariable(Lane& lane, const void* control, size_t bytes, uintptr_t pc) {
  for (const Variable& variable : variables_) {
    if (variable.control != control) continue;
    recent_ = variable;
    return;
  }
  const bool is_static = bytes > 0;
  const size_t size = is_static ? bytes : context_->dynamic_shared_bytes;
  size_t static_bytes = is_static ? bytes : 0;
  for (const Variable& variable : variables_)
    static_bytes += variable.is_static ? variable.bytes : 0;
  const bool too_much_static = static_bytes > kMaxStaticSharedBytes;
  if (too_much_static || shared_bytes() + size > context_->options->max_shared_bytes) {
    if (!context_->exact) Suspect(lane, Stop::kExactly);
    ReportFatal(Check::kSharedMemoryLimit, lane, false, pc,
                absl::StrCat(
                    "a block needs ", too_much_static ? static_bytes : shared_bytes() + size,
                    " bytes of ", too_much_static ? "static " : "", "shared memory; it can have ",
                    too_much_static ? kMaxStaticSharedBytes : context_->options->max_shared_bytes));
  }
  const uint32_t offset = shared_end_;
  recent_ = {control, offset, static_cast<uint32_t>(size), is_static};
  variables_.push_back(recent_);
  // A gap between the variables, so that an access beyond the end of one does not reach the next.
  shared_end_ = (offset + static_cast<uint32_t>(size) + 2 * kVariableAlignment - 1) /
                kVariableAlignment * kVariableAlignment;
  for (size_t rank = 0; rank < blocks_.size(); ++rank) {
    const size_t at = rank * kSharedArenaBytes + offset;
    std::memset(shared_memory_->As<uint8_t>() + at, 0xff, size);
    std::memset(shared_written_->As<uint8_t>() + at, 0, size);
  }
}

}  // namespace stridewise::executor
