// The trace of one lane of a warp: the events that the compiler's instrumentation reports, in
// order.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TRACE_H_
#define STRIDEWISE_COMMON_EXECUTOR_TRACE_H_

#include <cstddef>
#include <cstdint>

namespace stridewise::executor {

inline constexpr int kWarpLanes = 32;

// The kind of an event. kBasicBlock only records the path of the lane and has no address; the kinds
// from kGlobalLoad on are memory accesses.
enum class EventKind : uint8_t {
  kBasicBlock,
  kGlobalLoad,
  kGlobalStore,
  kGlobalAtomic,
  kSharedLoad,
  kSharedStore,
  kSharedAtomic,
  kSharedCopy,  // What a cp.async stores; Nsight Compute counts it apart from stores.
};

// Returns whether the kind is an access to shared memory.
inline bool IsShared(EventKind kind) { return kind >= EventKind::kSharedLoad; }

// A position in the machine code with the kind and width of its access: pc, kind and log2 of the
// bytes in one word, so that two lanes do the same if their sites are equal.
using Site = uint64_t;

inline Site MakeSite(uintptr_t pc, EventKind kind, unsigned log2_bytes) {
  return static_cast<uint64_t>(pc) << 8 | static_cast<uint64_t>(kind) << 4 | log2_bytes;
}
inline uintptr_t SitePc(Site site) { return static_cast<uintptr_t>(site >> 8); }
inline EventKind SiteKind(Site site) { return static_cast<EventKind>(site >> 4 & 15); }
inline int SiteBytes(Site site) { return 1 << (site & 15); }

// Returns the site with global in place of shared memory: that of the instruction, which may access
// the one for some lanes and the other for others, where a pointer is chosen.
inline Site PlaceOf(Site site) {
  const EventKind kind = SiteKind(site);
  const bool shared = kind >= EventKind::kSharedLoad && kind <= EventKind::kSharedAtomic;
  constexpr Site kDistance =
      static_cast<Site>(EventKind::kSharedLoad) - static_cast<Site>(EventKind::kGlobalLoad);
  return shared ? site - (kDistance << 4) : site;
}

struct Event {
  Site site;
  uint64_t address;  // Global: the pointer. Shared: the offset in the block's shared memory.
};

// A view of the events of one lane since its warp was last replayed.
struct LaneTrace {
  const Event* events = nullptr;
  size_t count = 0;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TRACE_H_
