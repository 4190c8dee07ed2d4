// Shadow memory: the last accesses to each cell, so that one or two comparisons detect a race.
//
// A thread's time is its clock, which advances at each synchronisation. Threads are numbered
// through the grid. An access of thread t at its time c is ordered before the current thread's
// present if t is the same thread; or t is of the same block, and c lies before the block's last
// barrier; or t is of the same cluster, and a barrier in shared memory or of the cluster ordered it
// (`acquired`); or t is of the same warp, and a later warp-level synchronisation ordered it
// (`known`: vector clocks of the warp's lanes, Lamport 1978, Mattern 1989).
//
// A cell keeps one writer and one reader. That is enough to detect every race, but not to name both
// sides or to exclude all false alarms: a second, exact run decides (exact_shadow.h).

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHADOW_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHADOW_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace stridewise::executor {

// Thread and time of an access in 64 bits: thread + 1 | clock | whether it was atomic. 0 means no
// access.
using Stamp = uint64_t;

inline constexpr uint32_t kManyBlocks = 0xffffffff;   // A reader: threads of several blocks.
inline constexpr uint32_t kManyThreads = 0x80000000;  // A bit of a reader: several of its block.
inline constexpr uint32_t kMaxThreads = 0x7ffffffe;   // The most threads of a grid.

inline Stamp MakeStamp(uint32_t who, uint32_t clock, bool atomic) {
  return static_cast<uint64_t>(who) << 32 | static_cast<uint64_t>(clock) << 1 | (atomic ? 1 : 0);
}
inline uint32_t StampWho(Stamp s) { return static_cast<uint32_t>(s >> 32); }
inline uint32_t StampClock(Stamp s) { return static_cast<uint32_t>(s) >> 1; }
inline bool StampAtomic(Stamp s) { return (s & 1) != 0; }

// The identity and time of the running thread.
struct Present {
  uint32_t thread = 0;
  uint32_t clock = 1;
  uint32_t block_first = 0;      // The first thread of its block.
  uint32_t block_threads = 1;    // The number of threads of its block.
  uint32_t cluster_first = 0;    // The same of the cluster, whose blocks' threads have neighbouring
  uint32_t cluster_threads = 1;  // numbers.
  uint32_t barrier_clock = 1;    // When the block left its last barrier.
  // All accesses of lane l of this warp before known[l] are ordered before the present.
  // Null before the first warp-level synchronisation since the barrier.
  const uint32_t* known = nullptr;
  // All accesses of thread t of the cluster before acquired[t] are ordered before the present. Null
  // before the first wait for a barrier other than the block's, in a cluster of one block since
  // that barrier.
  const uint32_t* acquired = nullptr;

  bool SameBlock(uint32_t other) const { return other - block_first < block_threads; }

  // Returns whether accesses of `other` at `other_clock`, in this launch, are ordered before the
  // present.
  bool After(uint32_t other, uint32_t other_clock) const {
    if (other == thread) return true;
    if (SameBlock(other)) {
      if (other_clock < barrier_clock) return true;
      const uint32_t lane = other - block_first;
      if (known != nullptr && lane / 32 == (thread - block_first) / 32 &&
          other_clock < known[lane % 32]) {
        return true;
      }
    }
    return acquired != nullptr && other - cluster_first < cluster_threads &&
           other_clock < acquired[other - cluster_first];
  }
};

struct Cell {
  std::atomic<Stamp> writer;
  std::atomic<Stamp> reader;
};

// Records a read, and returns whether it may race with a write. Stamps from before `oldest` are of
// an earlier launch or block. With `kConcurrent` other cores may work on the same cell.
template <bool kConcurrent>
[[gnu::always_inline]] inline bool SuspiciousRead(Cell& cell, const Present& now, uint32_t oldest) {
  const Stamp mine = MakeStamp(now.thread + 1, now.clock, false);
  Stamp reader = cell.reader.load(std::memory_order_relaxed);
  for (;;) {
    Stamp next = mine;
    if (reader != 0 && StampClock(reader) >= oldest && StampWho(reader) != now.thread + 1) {
      const uint32_t who = StampWho(reader);
      const uint32_t other = (who & ~kManyThreads) - 1;
      if (who == kManyBlocks) {
        next = reader;
      } else if ((who & kManyThreads) != 0
                     ? !now.SameBlock(other) || StampClock(reader) >= now.barrier_clock
                     : !now.After(other, StampClock(reader))) {
        next = now.SameBlock(other) ? MakeStamp((now.thread + 1) | kManyThreads,
                                                std::max(now.clock, StampClock(reader)), false)
                                    : MakeStamp(kManyBlocks, now.clock, false);
      }
    }
    if (next == reader) break;
    if (!kConcurrent) {
      cell.reader.store(next, std::memory_order_relaxed);
      break;
    }
    if (cell.reader.compare_exchange_weak(reader, next)) break;
  }
  // Loaded after the reader was stored: of a read and a write on two cores one sees the other.
  const Stamp writer = cell.writer.load();
  return writer != 0 && StampClock(writer) >= oldest &&
         !now.After(StampWho(writer) - 1, StampClock(writer));
}

// Records a write, or an atomic operation, and returns whether it may race with another access.
template <bool kConcurrent>
[[gnu::always_inline]] inline bool SuspiciousWrite(Cell& cell, const Present& now, uint32_t oldest,
                                                   bool atomic) {
  const Stamp mine = MakeStamp(now.thread + 1, now.clock, atomic);
  Stamp writer = 0;
  if (kConcurrent) {
    writer = cell.writer.exchange(mine);
  } else {
    writer = cell.writer.load(std::memory_order_relaxed);
    cell.writer.store(mine, std::memory_order_relaxed);
  }
  if (writer != 0 && StampClock(writer) >= oldest && !(atomic && StampAtomic(writer)) &&
      !now.After(StampWho(writer) - 1, StampClock(writer))) {
    return true;
  }
  const Stamp reader = cell.reader.load();
  if (reader == 0 || StampClock(reader) < oldest) return false;
  const uint32_t who = StampWho(reader);
  if (who == kManyBlocks) return true;
  const uint32_t other = (who & ~kManyThreads) - 1;
  if ((who & kManyThreads) == 0) return !now.After(other, StampClock(reader));
  return !now.SameBlock(other) || StampClock(reader) >= now.barrier_clock;
}

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHADOW_H_
