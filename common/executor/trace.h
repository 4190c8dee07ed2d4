// What one lane of a warp did, in order: the events that the compiler's instrumentation reports.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TRACE_H_
#define STRIDEWISE_COMMON_EXECUTOR_TRACE_H_

#include <cstddef>
#include <cstdint>

namespace stridewise::executor {

inline constexpr int kWarpLanes = 32;

// What happened at a site. Accesses count from kGlobalLoad; kBasicBlock only says which way the
// lane went, and its address means nothing.
enum class EventKind : uint8_t {
  kBasicBlock,
  kGlobalLoad,
  kGlobalStore,
  kGlobalAtomic,
  kSharedLoad,
  kSharedStore,
  kSharedAtomic,
};

// A place in the machine code, what it does there and how wide: pc, kind and log2 of the bytes in
// one word, so that two lanes do the same when their sites are equal.
using Site = uint64_t;

inline Site MakeSite(uintptr_t pc, EventKind kind, unsigned log2_bytes) {
  return static_cast<uint64_t>(pc) << 8 | static_cast<uint64_t>(kind) << 4 | log2_bytes;
}
inline uintptr_t SitePc(Site site) { return static_cast<uintptr_t>(site >> 8); }
inline EventKind SiteKind(Site site) { return static_cast<EventKind>(site >> 4 & 15); }
inline int SiteBytes(Site site) { return 1 << (site & 15); }

struct Event {
  Site site;
  uint64_t address;  // Global: the pointer. Shared: the offset in the block's shared memory.
};

// The events of one lane since its warp was last replayed; owned elsewhere.
struct LaneTrace {
  const Event* events = nullptr;
  size_t count = 0;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TRACE_H_
