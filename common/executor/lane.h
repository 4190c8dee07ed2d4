// A thread of a kernel, and the warp that it is in, while they run on a worker.

#ifndef STRIDEWISE_COMMON_EXECUTOR_LANE_H_
#define STRIDEWISE_COMMON_EXECUTOR_LANE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/executor/accumulators.h"
#include "common/executor/fiber.h"
#include "common/executor/ptx/mbarrier.h"
#include "common/executor/ptx/program.h"
#include "common/executor/shadow.h"
#include "common/executor/shim/simt_entry_points.h"
#include "common/executor/trace.h"
#include "common/executor/warp_trace.h"

namespace stridewise::executor {

enum class AccessOp { kLoad, kStore, kAtomic };

// kBlocked: it waits for a phase of an mbarrier or of a named barrier. kAtWarpgroup: for the other
// threads of its warpgroup, at a wgmma.
enum class LaneState : uint8_t {
  kReady,
  kAtBarrier,
  kAtGridBarrier,
  kAtWarpSync,
  kAtWarpgroup,
  kBlocked,
  kTraceFull,
  kDone
};

class Worker;

// A thread of the running blocks. What each of its events touches is in its first cache lines.
struct alignas(64) Lane {
  // After this number of events without a wait, lanes are replayed if they have the same events, so
  // that a long loop does not fill the memory; otherwise their traces grow, up to a limit.
  static constexpr size_t kFirstEventLimit = size_t{1} << 14;

  Worker* worker = nullptr;
  uintptr_t stack_bottom = 0;
  // Basic blocks since the block started, without those in which it follows another lane's path: a
  // path has an end, so that a lane that goes on for ever comes to new ones for ever.
  uint64_t steps = 0;
  LanePath path;  // Its events.

  // Returns whether the address is in what would be registers or local memory.
  bool IsLocal(uintptr_t address) const {
    return address - stack_bottom < FiberStacks::kStackBytes;
  }
  Present now;
  SimtIndex thread{0, 0, 0};
  int index = 0;       // Of the thread among those of the running blocks.
  int rank = 0;        // Of its block among these.
  uint32_t arena = 0;  // Where the block's shared memory starts in the worker's.
  LaneState state = LaneState::kDone;

  size_t event_limit = kFirstEventLimit;  // Of the path, until the warp is replayed.

  bool volatile_access = false;  // Whether the running access is volatile.

  uintptr_t wait_pc = 0;  // Where it waits.
  uint32_t wait_mask = 0;
  int predicate = 0;  // Of a counting barrier; when it is complete their number.

  // The lane's value in a warp-level synchronisation, and the value that it receives.
  uint64_t offer = 0;
  int source = 0;  // The lane whose offer it receives; kBallot: a bit for each offer that is not 0.
  uint64_t result = 0;
  static constexpr int kBallot = -1;

  // The instruction of the whole warp that it waits to execute, if it is one of PTX, and the values
  // of its operands, in order. Those of the first one are its results.
  const PtxInstruction* instruction = nullptr;
  uint64_t* operands = nullptr;

  // The phase for which it waits. After a wait in which nothing else could run, `gave_up` is set.
  const Mbarrier* blocked_by = nullptr;
  uint64_t blocked_phase = 0;
  bool may_give_up = false;
  bool gave_up = false;
  std::vector<uint32_t> acquired;  // What now.acquired points to.

  // Of the cluster's barrier: the lane's clock at each of its arrivals, the number of phases for
  // whose end it has waited, and whether the barrier counts it as one that has ended.
  std::vector<uint32_t> cluster_arrivals;
  uint64_t cluster_passed = 0;
  bool left_cluster = false;
  bool mbarrier_init_fenced = false;  // Since the last arrival.

  // Of wgmma: the groups that it has committed; for each one that it has waited for the clock of
  // that wait; and its last multiplication, with its group.
  bool wgmma_fenced = false;
  uint32_t wgmma_groups = 0;
  uint32_t wgmma_last = 0;
  uintptr_t wgmma_pc = 0;
  std::vector<uint32_t> wgmma_ends;
  Accumulators accumulators;
  bool accumulators_changed = false;  // Those of the instruction that it has come to.
  // Its stores before this time are seen by asynchronous reads (fence.proxy.async), and so are all
  // stores that came before `fenced`.
  uint32_t proxy_fence_clock = 0;
  Present fenced;
  // The mbarriers that it has initialised before this time are seen by bulk copies.
  uint32_t init_fence_clock = 0;

  // Of bulk stores, likewise.
  uint32_t bulk_groups = 0;
  uint32_t bulk_last = 0;
  uintptr_t bulk_pc = 0;
  std::vector<uint32_t> bulk_ends;

  // Of setmaxnreg: what the last one asked for, and how many there were.
  uint32_t max_registers = 0;
  uint32_t register_changes = 0;
  uintptr_t registers_pc = 0;

  struct AsyncCopy {
    uint8_t* to;
    const uint8_t* from;
    size_t bytes, zero_bytes;
    uintptr_t pc;
    unsigned group;
  };
  std::vector<AsyncCopy> async_copies;
  unsigned async_group = 0;

  Fiber fiber;
};

// The lane whose fiber this host thread runs; null outside of fibers.
// Also within a shared library its address is one offset from the thread's own.
[[gnu::tls_model("initial-exec")]] inline thread_local Lane* running_lane = nullptr;

struct Warp {
  int first = 0;
  int lanes = 0;
  int rank = 0;  // Of its block.
  bool divergent = false;
  WarpTrace trace;
  std::unique_ptr<std::array<std::array<uint32_t, kWarpLanes>, kWarpLanes>> known;
  bool known_in_use = false;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_LANE_H_
