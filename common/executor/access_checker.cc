// The worker's checks: the instrumentation calls them for every access of a kernel.
//
// The first run of a launch only detects suspicious accesses (Fast...) and stops at the first one;
// the second, exact run finds what is wrong (access_checker_exact.cc).

#include "common/executor/access_checker.h"

#include <link.h>

#include <algorithm>
#include <thread>

#include "common/executor/access_checks.h"

namespace stridewise::executor {
namespace {

struct Range {
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  bool Contains(uintptr_t address) const { return address >= begin && address < end; }
};

// The program's own memory, which holds literals, tables and __constant__ variables of kernels.
Range ProgramImage() {
  Range range;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        Range& range = *static_cast<Range*>(out);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD) continue;
          const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          range.begin = std::min(range.begin, begin);
          range.end = std::max(range.end, begin + header.p_memsz);
        }
        return 1;  // The first object is the program.
      },
      &range);
  return range;
}

// A cache line's: far enough ahead that it has come when it is needed.
constexpr int kCellsAhead = 64 / sizeof(Cell);

EventKind GlobalKind(AccessOp op) {
  return op == AccessOp::kLoad    ? EventKind::kGlobalLoad
         : op == AccessOp::kStore ? EventKind::kGlobalStore
                                  : EventKind::kGlobalAtomic;
}
EventKind SharedKind(AccessOp op) {
  return op == AccessOp::kLoad    ? EventKind::kSharedLoad
         : op == AccessOp::kStore ? EventKind::kSharedStore
                                  : EventKind::kSharedAtomic;
}

template <bool kConcurrent>
[[gnu::always_inline]] inline bool Suspicious(Cell* cells, int count, const Present& now,
                                              uint32_t oldest, AccessOp op) {
  bool suspicious = false;
  for (int i = 0; i < count; ++i) {
    suspicious |= op == AccessOp::kLoad ? SuspiciousRead<kConcurrent>(cells[i], now, oldest)
                                        : SuspiciousWrite<kConcurrent>(cells[i], now, oldest,
                                                                       op == AccessOp::kAtomic);
  }
  return suspicious;
}

}  // namespace

void AccessChecker::VolatileAccess(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op,
                                   uintptr_t pc) {
  lane.volatile_access = true;
  Access(lane, address, log2_bytes, op, pc);
  lane.volatile_access = false;
}

void AccessChecker::Fence(Lane& lane) {
  if (!exact_) return;
  ++lane.now.clock;  // What comes behind the fence is later.
  publications_.Fence(lane.index, lane.now);
}

// Checks an access at which this region is, or none.
[[gnu::always_inline]] inline void AccessChecker::CheckGlobal(Lane& lane, Region* region,
                                                              uintptr_t address, int log2_bytes,
                                                              AccessOp op, uintptr_t pc) {
  if (exact_) {
    ExactGlobal(lane, address, 1 << log2_bytes, op, pc);
  } else if (!FastGlobal(lane, region, address, log2_bytes, op)) {
    Suspect(lane, Stop::kExactly);
  }
}

[[gnu::always_inline]] inline bool AccessChecker::FastGlobal(Lane& lane, Region* region,
                                                             uintptr_t address, int log2_bytes,
                                                             AccessOp op) {
  const int bytes = 1 << log2_bytes;
  if (region == nullptr || address < region->base ||
      address + bytes > region->base + region->bytes || (address & (bytes - 1)) != 0) {
    return false;
  }
  if (region->read_only) return op == AccessOp::kLoad;
  const size_t offset = address - region->base;
  const RegionUse use = region->use.load(std::memory_order_acquire);
  if (Stores(op) && use != RegionUse::kStored) BeginStores(lane, region);
  if (!region->initialised) {
    if (op != AccessOp::kStore && !AllWritten(region->written + offset, bytes)) return false;
    if (Stores(op)) SetWritten(region->written + offset, bytes);
  }
  if (!Stores(op) && use != RegionUse::kStored &&
      (use == RegionUse::kOnlyRead || !MustRecordLoads(region))) {
    return true;
  }
  const int granule = region->granule_log2;
  if (log2_bytes < granule) {
    SuspectFinerCells(lane, region, log2_bytes);
  }
  Cell* cells = region->cells + (offset >> granule);
  // The next lane's cell, most likely, which is in no cache when a kernel writes a buffer once. An
  // address beyond the end of the cells does no harm.
  __builtin_prefetch(cells + kCellsAhead, 1);
  const int count = 1 << (log2_bytes - granule);
  const uint32_t oldest = grid_clock_;
  return !(one_core_ ? Suspicious<false>(cells, count, lane.now, oldest, op)
                     : Suspicious<true>(cells, count, lane.now, oldest, op));
}

[[gnu::always_inline]] inline void AccessChecker::CheckShared(Lane& lane, uint32_t offset,
                                                              int log2_bytes, AccessOp op,
                                                              uintptr_t pc) {
  if (IsRemote(lane, offset)) CheckRemoteAccess(lane, offset, pc);
  if (op != AccessOp::kLoad && !async_reads_.empty()) {
    CheckAgainstAsyncReads(lane, offset, 1 << log2_bytes, pc);
  }
  if (exact_) {
    ExactShared(lane, offset, 1 << log2_bytes, op, pc);
  } else if (!FastShared(lane, offset, log2_bytes, op)) {
    Suspect(lane, Stop::kExactly);
  }
}

[[gnu::always_inline]] inline bool AccessChecker::FastShared(Lane& lane, uint32_t offset,
                                                             int log2_bytes, AccessOp op) {
  const uint32_t bytes = 1u << log2_bytes;
  const uint32_t in_block = offset % kSharedArenaBytes;
  const auto is_in = [in_block, bytes](const Variable& v) {
    return in_block - v.offset < v.bytes && in_block - v.offset + bytes <= v.bytes;
  };
  if (!is_in(recent_) && !std::any_of(variables_.begin(), variables_.end(), is_in)) return false;
  if ((offset & (bytes - 1)) != 0) return false;
  uint8_t* written = shared_written_->As<uint8_t>() + offset;
  if (op != AccessOp::kStore && !AllWritten(written, 1 << log2_bytes)) return false;
  if (Stores(op)) SetWritten(written, 1 << log2_bytes);
  const int granule = context_->shared_granule_log2;
  if (log2_bytes < granule) {
    SuspectFinerCells(lane, nullptr, log2_bytes);
  }
  return !Suspicious<false>(shared_cells_->As<Cell>() + (offset >> granule),
                            1 << (log2_bytes - granule), lane.now, cluster_clock_, op);
}

[[gnu::always_inline]] inline void AccessChecker::Push(Lane& lane, uintptr_t pc, EventKind kind,
                                                       int log2_bytes, uint64_t address) {
  const Site site = MakeSite(pc, kind, log2_bytes);
  if (!lane.path.Follow(site)) AddToPath(lane, site);
  lane.path.AddAddress(address);
}

void AccessChecker::Count(Lane& lane, EventKind kind, uintptr_t address, int times, uintptr_t pc) {
  for (int i = 0; i < times && profile_events_; ++i) Push(lane, pc, kind, 0, address);
}

// Access() to memory of the device.
[[gnu::always_inline]] inline void AccessChecker::AccessDevice(Lane& lane, uintptr_t address,
                                                               int log2_bytes, AccessOp op,
                                                               uintptr_t pc) {
  if (memory_->Contains(address)) {
    if (op == AccessOp::kAtomic && !one_core_) Suspect(lane, Stop::kOneCore);
    if (check_) CheckGlobal(lane, memory_->OwnerOf(address), address, log2_bytes, op, pc);
    if (profile_events_) Push(lane, pc, GlobalKind(op), log2_bytes, address);
  } else if (address - shared_ < shared_size_) {
    const uint32_t offset = static_cast<uint32_t>(address - shared_);
    if (check_) CheckShared(lane, offset, log2_bytes, op, pc);
    if (profile_events_) Push(lane, pc, SharedKind(op), log2_bytes, offset);
  } else {
    AccessElsewhere(lane, address, log2_bytes, op, pc);
  }
}

void AccessChecker::StoreCopied(Lane& lane, uintptr_t address, int log2_bytes, uintptr_t pc) {
  if (address - shared_ >= shared_size_)
    return Access(lane, address, log2_bytes, AccessOp::kStore, pc);
  const uint32_t offset = static_cast<uint32_t>(address - shared_);
  if (check_) CheckShared(lane, offset, log2_bytes, AccessOp::kStore, pc);
  if (profile_events_) Push(lane, pc, EventKind::kSharedCopy, log2_bytes, offset);
}

void AccessChecker::Access(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op,
                           uintptr_t pc) {
  if (!lane.IsLocal(address)) {
    AccessDevice(lane, address, log2_bytes, op, pc);
  } else if (!lane.accumulators.empty()) {
    for (uintptr_t i = 0; i < uintptr_t{1} << log2_bytes; i += Accumulators::kBytes) {
      LocalAccess(lane, address + i, op, pc);
    }
  }
}

template <int kLog2Bytes, AccessOp kOp>
void AccessChecker::AccessOf(Lane& lane, uintptr_t address, uintptr_t pc) {
  // Loads of inputs, most accesses of a product, with fewer registers than all the rest needs.
  if (kOp == AccessOp::kLoad && memory_->Contains(address) && !exact_) {
    const Region* const region = memory_->OwnerOf(address);
    const bool allowed = region != nullptr && region->plain_loads.load(std::memory_order_relaxed) &&
                         address >= region->base &&
                         address + (1 << kLog2Bytes) <= region->base + region->bytes &&
                         (address & ((1 << kLog2Bytes) - 1)) == 0;
    const Site site = MakeSite(pc, EventKind::kGlobalLoad, kLog2Bytes);
    if (allowed && profile_events_ && lane.path.FollowWith(site, address)) return;
  }
  if (address - shared_ < shared_size_) {
    AccessShared<kLog2Bytes, kOp>(lane, static_cast<uint32_t>(address - shared_), pc);
  } else {
    AccessAny<kLog2Bytes, kOp>(lane, address, pc);
  }
}

template <int kLog2Bytes, AccessOp kOp>
void AccessChecker::AccessShared(Lane& lane, uint32_t offset, uintptr_t pc) {
  if (check_) CheckShared(lane, offset, kLog2Bytes, kOp, pc);
  if (profile_events_) Push(lane, pc, SharedKind(kOp), kLog2Bytes, offset);
}

template <int kLog2Bytes, AccessOp kOp>
void AccessChecker::AccessAny(Lane& lane, uintptr_t address, uintptr_t pc) {
  AccessDevice(lane, address, kLog2Bytes, kOp, pc);
}

template void AccessChecker::AccessOf<0, AccessOp::kLoad>(Lane&, uintptr_t, uintptr_t);
template void AccessChecker::AccessOf<1, AccessOp::kLoad>(Lane&, uintptr_t, uintptr_t);
template void AccessChecker::AccessOf<2, AccessOp::kLoad>(Lane&, uintptr_t, uintptr_t);
template void AccessChecker::AccessOf<3, AccessOp::kLoad>(Lane&, uintptr_t, uintptr_t);
template void AccessChecker::AccessOf<4, AccessOp::kLoad>(Lane&, uintptr_t, uintptr_t);
template void AccessChecker::AccessOf<0, AccessOp::kStore>(Lane&, uintptr_t, uintptr_t);
template void AccessChecker::AccessOf<1, AccessOp::kStore>(Lane&, uintptr_t, uintptr_t);
template void AccessChecker::AccessOf<2, AccessOp::kStore>(Lane&, uintptr_t, uintptr_t);
template void AccessChecker::AccessOf<3, AccessOp::kStore>(Lane&, uintptr_t, uintptr_t);
template void AccessChecker::AccessOf<4, AccessOp::kStore>(Lane&, uintptr_t, uintptr_t);

// Access() to what lies neither in the device's arena nor in shared memory.
void AccessChecker::AccessElsewhere(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op,
                                    uintptr_t pc) {
  if (Region* region = memory_->FindAdopted(address)) {
    if (region->constant && op == AccessOp::kLoad && !exact_) {
      if (address + (1u << log2_bytes) <= region->base + region->bytes) return;
      Suspect(lane, Stop::kExactly);
    }
    if (op == AccessOp::kAtomic && !one_core_) Suspect(lane, Stop::kOneCore);
    if (check_) CheckGlobal(lane, region, address, log2_bytes, op, pc);
    if (profile_events_ && !region->constant) Push(lane, pc, GlobalKind(op), log2_bytes, address);
    return;
  }
  static const Range image = ProgramImage();
  const auto arguments = reinterpret_cast<uintptr_t>(context_->call->arguments);
  if (address - arguments < context_->call->arguments_bytes || image.Contains(address)) return;
  WildAddress(lane, address, log2_bytes, op, pc);
}

void AccessChecker::CheckGlobalApart(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op,
                                     uintptr_t pc) {
  Region* const region = memory_->Find(address);
  if (!exact_ && region == nullptr) Suspect(lane, Stop::kExactly);
  CheckGlobal(lane, region, address, log2_bytes, op, pc);
}

void AccessChecker::CheckSharedApart(Lane& lane, uint32_t offset, int log2_bytes, AccessOp op,
                                     uintptr_t pc) {
  CheckShared(lane, offset, log2_bytes, op, pc);
}

}  // namespace stridewise::executor
