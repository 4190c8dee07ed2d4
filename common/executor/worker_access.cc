// The worker's checks: the instrumentation calls them for every access of a kernel.
//
// The first run of a launch only detects suspicious accesses (Fast...) and stops at the first one;
// the second, exact run finds what is wrong (Exact...).

#include <link.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/executor/worker.h"

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

// Flags, one for each byte of memory; most accesses have 4 bytes.
constexpr uint32_t kFourFlags = 0x01010101;

bool AllWritten(const uint8_t* written, int bytes) {
  if (bytes == 4) return std::memcmp(written, &kFourFlags, 4) == 0;
  for (int i = 0; i < bytes; ++i) {
    if (written[i] == 0) return false;
  }
  return true;
}

void SetWritten(uint8_t* written, int bytes) {
  if (bytes == 4) {
    std::memcpy(written, &kFourFlags, 4);
  } else {
    std::memset(written, 1, static_cast<size_t>(bytes));
  }
}

std::string Size(int bytes, AccessOp op) {
  const char* kNames[] = {"load", "store", "atomic operation"};
  return absl::StrCat(bytes, "-byte ", kNames[static_cast<int>(op)]);
}

bool Stores(AccessOp op) { return op != AccessOp::kLoad; }

template <bool kConcurrent>
bool Suspicious(Cell* cells, int count, const Present& now, uint32_t oldest, AccessOp op) {
  bool suspicious = false;
  for (int i = 0; i < count; ++i) {
    suspicious |= op == AccessOp::kLoad ? SuspiciousRead<kConcurrent>(cells[i], now, oldest)
                                        : SuspiciousWrite<kConcurrent>(cells[i], now, oldest,
                                                                       op == AccessOp::kAtomic);
  }
  return suspicious;
}

}  // namespace

void Worker::Access(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op, uintptr_t pc) {
  if (lane.IsLocal(address)) return;
  const auto shared = reinterpret_cast<uintptr_t>(shared_memory_->As<void>());
  if (context_->memory->Contains(address)) {
    if (op == AccessOp::kAtomic && !context_->one_core) Suspect(lane, Stop::kOneCore);
    if (context_->options->check) CheckGlobal(lane, address, log2_bytes, op, pc);
    if (!context_->options->profile) return;
    static constexpr EventKind kKinds[] = {EventKind::kGlobalLoad, EventKind::kGlobalStore,
                                           EventKind::kGlobalAtomic};
    Push(lane, pc, kKinds[static_cast<int>(op)], log2_bytes, address);
  } else if (address - shared < kSharedArenaBytes) {
    const uint32_t offset = static_cast<uint32_t>(address - shared);
    if (context_->options->check) CheckShared(lane, offset, log2_bytes, op, pc);
    if (!context_->options->profile) return;
    static constexpr EventKind kKinds[] = {EventKind::kSharedLoad, EventKind::kSharedStore,
                                           EventKind::kSharedAtomic};
    Push(lane, pc, kKinds[static_cast<int>(op)], log2_bytes, offset);
  } else if (Region* region = context_->memory->FindAdopted(address)) {
    if (region->constant && op == AccessOp::kLoad && !context_->exact) {
      if (address + (1u << log2_bytes) <= region->base + region->bytes) return;
      Suspect(lane, Stop::kExactly);
    }
    if (op == AccessOp::kAtomic && !context_->one_core) Suspect(lane, Stop::kOneCore);
    if (context_->options->check) CheckGlobal(lane, address, log2_bytes, op, pc);
    if (!context_->options->profile || region->constant) return;
    static constexpr EventKind kKinds[] = {EventKind::kGlobalLoad, EventKind::kGlobalStore,
                                           EventKind::kGlobalAtomic};
    Push(lane, pc, kKinds[static_cast<int>(op)], log2_bytes, address);
  } else {
    static const Range image = ProgramImage();
    const auto arguments = reinterpret_cast<uintptr_t>(context_->call->arguments);
    if (address - arguments < context_->call->arguments_bytes || image.Contains(address)) return;
    WildAddress(lane, address, log2_bytes, op, pc);
  }
}

void Worker::VolatileAccess(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op,
                            uintptr_t pc) {
  lane.volatile_access = true;
  Access(lane, address, log2_bytes, op, pc);
  lane.volatile_access = false;
}

void Worker::Fence(Lane& lane) {
  if (!context_->exact) return;
  ++lane.now.clock;  // What comes behind the fence is later.
  publications_.Fence(lane.index, lane.now);
}

void Worker::WildAddress(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op, uintptr_t pc) {
  if (!context_->exact) Suspect(lane, Stop::kExactly);
  ReportFatal(Check::kWildAddress, lane, Stores(op), pc,
              absl::StrCat(Size(1 << log2_bytes, op), " at 0x", absl::Hex(address),
                           ", which is no memory of the device"));
}

void Worker::BasicBlock(Lane& lane, uintptr_t pc) {
  if (++lane.steps > context_->options->max_steps) Runaway(lane, pc);
  if (context_->options->profile) Push(lane, pc, EventKind::kBasicBlock, 0, 0);
}

void Worker::Runaway(Lane& lane, uintptr_t pc) {
  if (!context_->exact) Suspect(lane, Stop::kExactly);
  ReportFatal(Check::kRunaway, lane, false, pc,
              absl::StrCat("more than ", context_->options->max_steps,
                           " basic blocks in one thread; does it wait for another block?"));
}

void Worker::Push(Lane& lane, uintptr_t pc, EventKind kind, int log2_bytes, uint64_t address) {
  if (lane.event_count == lane.trace.size() || lane.event_count == lane.event_limit) {
    GrowTrace(lane);
  }
  lane.events[lane.event_count++] = {MakeSite(pc, kind, log2_bytes), address};
}

void Worker::CheckGlobal(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op, uintptr_t pc) {
  if (context_->exact) {
    ExactGlobal(lane, address, 1 << log2_bytes, op, pc);
  } else if (!FastGlobal(lane, address, log2_bytes, op)) {
    Suspect(lane, Stop::kExactly);
  }
}

bool Worker::FastGlobal(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op) {
  const int bytes = 1 << log2_bytes;
  Region* region = context_->memory->Find(address);
  if (region == nullptr || address < region->base ||
      address + bytes > region->base + region->bytes || (address & (bytes - 1)) != 0) {
    return false;
  }
  if (region->read_only) return op == AccessOp::kLoad;
  const size_t offset = address - region->base;
  if (!region->initialised) {
    if (op != AccessOp::kStore && !AllWritten(region->written + offset, bytes)) return false;
    if (Stores(op)) SetWritten(region->written + offset, bytes);
  }
  const int granule = region->granule_log2;
  if (log2_bytes < granule) {
    context_->RequestFinerCells(region, log2_bytes);
    Suspect(lane, Stop::kFinerCells);
  }
  Cell* cells = region->cells + (offset >> granule);
  const int count = 1 << (log2_bytes - granule);
  const uint32_t oldest = context_->first_clock;
  return !(context_->one_core ? Suspicious<false>(cells, count, lane.now, oldest, op)
                              : Suspicious<true>(cells, count, lane.now, oldest, op));
}

void Worker::CheckShared(Lane& lane, uint32_t offset, int log2_bytes, AccessOp op, uintptr_t pc) {
  if (context_->exact) {
    ExactShared(lane, offset, 1 << log2_bytes, op, pc);
  } else if (!FastShared(lane, offset, log2_bytes, op)) {
    Suspect(lane, Stop::kExactly);
  }
}

bool Worker::FastShared(Lane& lane, uint32_t offset, int log2_bytes, AccessOp op) {
  const uint32_t bytes = 1u << log2_bytes;
  const bool inside = std::any_of(variables_.begin(), variables_.end(), [&](const Variable& v) {
    return offset - v.offset < v.bytes && offset - v.offset + bytes <= v.bytes;
  });
  if (!inside || (offset & (bytes - 1)) != 0) return false;
  uint8_t* written = shared_written_->As<uint8_t>() + offset;
  if (op != AccessOp::kStore && !AllWritten(written, 1 << log2_bytes)) return false;
  if (Stores(op)) SetWritten(written, 1 << log2_bytes);
  const int granule = context_->shared_granule_log2;
  if (log2_bytes < granule) {
    context_->RequestFinerCells(nullptr, log2_bytes);
    Suspect(lane, Stop::kFinerCells);
  }
  return !Suspicious<false>(shared_cells_->As<Cell>() + (offset >> granule),
                            1 << (log2_bytes - granule), lane.now, block_clock_, op);
}

void Worker::ExactGlobal(Lane& lane, uintptr_t address, int bytes, AccessOp op, uintptr_t pc) {
  DeviceMemory& memory = *context_->memory;
  Region* region = memory.Find(address);
  if (region == nullptr || address < region->base ||
      address + bytes > region->base + region->bytes) {
    std::string where = "outside every buffer";
    if (const Region* nearest = memory.Nearest(address)) {
      const auto at = static_cast<int64_t>(address) - static_cast<int64_t>(nearest->base);
      where = absl::StrCat("at byte ", at, " of buffer '", nearest->name, "', which has ",
                           nearest->bytes);
    }
    Report(Check::kOutOfBounds, &lane, Stores(op), pc, absl::StrCat(Size(bytes, op), " ", where));
    return;
  }
  const size_t offset = address - region->base;
  const std::string where =
      absl::StrCat(Size(bytes, op), " at byte ", offset, " of buffer '", region->name, "'");
  if ((address & (bytes - 1)) != 0) ReportFatal(Check::kMisaligned, lane, Stores(op), pc, where);
  if (region->read_only) {
    if (Stores(op)) Report(Check::kWriteToReadOnly, &lane, true, pc, where);
    return;
  }
  if (!region->initialised) {
    if (op != AccessOp::kStore && !AllWritten(region->written + offset, bytes)) {
      Report(Check::kUninitialised, &lane, Stores(op), pc, where);
    }
    if (Stores(op)) SetWritten(region->written + offset, bytes);
  }
  CheckRace(lane, &global_exact_, address, bytes, op, pc, where);
}

void Worker::ExactShared(Lane& lane, uint32_t offset, int bytes, AccessOp op, uintptr_t pc) {
  // The last variable that starts at or before the access, or the first.
  const Variable* variable = nullptr;
  for (const Variable& v : variables_) {
    if (variable == nullptr || v.offset <= offset) variable = &v;
  }
  if (variable == nullptr || offset < variable->offset ||
      offset + bytes > variable->offset + variable->bytes) {
    const std::string where =
        variable == nullptr
            ? "in a block that has none"
            : absl::StrCat("at byte ",
                           static_cast<int64_t>(offset) - static_cast<int64_t>(variable->offset),
                           " of a __shared__ variable of ", variable->bytes);
    Report(Check::kOutOfBounds, &lane, Stores(op), pc,
           absl::StrCat(Size(bytes, op), " of shared memory ", where));
    return;
  }
  const std::string where = absl::StrCat(Size(bytes, op), " at byte ", offset - variable->offset,
                                         " of a __shared__ variable");
  if ((offset & (bytes - 1)) != 0) ReportFatal(Check::kMisaligned, lane, Stores(op), pc, where);
  uint8_t* written = shared_written_->As<uint8_t>() + offset;
  if (op != AccessOp::kStore && !AllWritten(written, bytes)) {
    Report(Check::kUninitialised, &lane, Stores(op), pc, where);
  }
  if (Stores(op)) SetWritten(written, bytes);
  CheckRace(lane, &shared_exact_, offset, bytes, op, pc, where);
}

void Worker::CheckRace(Lane& lane, ExactShadow* shadow, uint64_t address, int bytes, AccessOp op,
                       uintptr_t pc, const std::string& where) {
  const bool strong = op == AccessOp::kAtomic || (lane.volatile_access && shadow == &global_exact_);
  const uint32_t number = strong && Stores(op) ? publications_.Writes(address) + 1 : 0;
  const auto race = shadow->Touch(
      address, bytes, {lane.now.thread, lane.now.clock, pc, Stores(op), strong, number},
      [&](const ExactShadow::Access& other) {
        return lane.now.After(other.thread, other.clock) ||
               publications_.Orders(lane.index, other.thread, other.clock) ||
               (other.number > 0 && publications_.OrdersWrite(lane.index, address, other.number));
      });
  if (strong && op == AccessOp::kLoad) publications_.Read(lane.index, address);
  if (strong && op == AccessOp::kStore) publications_.Write(lane.index, address);
  if (op == AccessOp::kAtomic) publications_.ReadAndWrite(lane.index, address);
  if (!race) return;
  const Culprit other = CulpritOf(race->thread, race->pc, race->store);
  Report(Check::kRace, &lane, Stores(op), pc, where, &other);
}

Culprit Worker::CulpritOf(uint32_t thread, uintptr_t pc, bool store) const {
  const SimtIndex& grid = context_->grid;
  const SimtIndex& block = context_->block;
  const uint32_t b = thread / context_->block_threads;
  const uint32_t t = thread % context_->block_threads;
  return {{b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y},
          {t % block.x, t / block.x % block.y, t / block.x / block.y},
          pc,
          store};
}

void Worker::Report(Check check, const Lane* lane, bool store, uintptr_t pc, std::string message,
                    const Culprit* other) {
  // One finding for each pair of places in the code: the first.
  for (const Finding& f : findings_) {
    const uintptr_t other_pc = other == nullptr ? 0 : other->pc;
    if (f.check == check && f.culprit.pc == pc && (f.has_other ? f.other.pc : 0) == other_pc) {
      return;
    }
  }
  Finding finding;
  finding.check = check;
  finding.kernel = context_->call->kernel;
  finding.culprit = CulpritOf(lane->now.thread, pc, store);
  if (other != nullptr) {
    finding.has_other = true;
    finding.other = *other;
  }
  finding.message = std::move(message);
  findings_.push_back(std::move(finding));
  if (static_cast<int>(findings_.size()) < context_->options->max_findings) return;
  context_->stop = Stop::kFindings;
  if (running_lane != nullptr) Leave(*running_lane);
}

void Worker::ReportFatal(Check check, Lane& lane, bool store, uintptr_t pc, std::string message) {
  Report(check, &lane, store, pc, std::move(message));
  context_->stop = Stop::kFindings;
  Leave(lane);
}

void Worker::Suspect(Lane& lane, Stop stop) {
  context_->stop = stop;
  Leave(lane);
}

}  // namespace stridewise::executor
