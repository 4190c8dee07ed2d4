// The exact run of a launch, on one core: finds what is wrong with suspicious accesses, names both
// sides of a race, and dismisses false alarms.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "common/executor/access_checker.h"
#include "common/executor/access_checks.h"

namespace stridewise::executor {

namespace {

std::string Size(int bytes, AccessOp op) {
  const char* kNames[] = {"load", "store", "atomic operation"};
  return absl::StrCat(bytes, "-byte ", kNames[static_cast<int>(op)]);
}

}  // namespace

void AccessChecker::WildAddress(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op,
                                uintptr_t pc) {
  if (!context_->exact) Suspect(lane, Stop::kExactly);
  ReportFatal(Check::kWildAddress, lane, Stores(op), pc,
              absl::StrCat(Size(1 << log2_bytes, op), " at 0x", absl::Hex(address),
                           ", which is no memory of the device"));
}

void AccessChecker::ExactGlobal(Lane& lane, uintptr_t address, int bytes, AccessOp op,
                                uintptr_t pc) {
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
  const auto where = [&] {
    return absl::StrCat(Size(bytes, op), " at byte ", offset, " of buffer '", region->name, "'");
  };
  if ((address & (bytes - 1)) != 0) ReportFatal(Check::kMisaligned, lane, Stores(op), pc, where());
  if (region->read_only) {
    if (Stores(op)) Report(Check::kWriteToReadOnly, &lane, true, pc, where());
    return;
  }
  const RegionUse use = region->use.load(std::memory_order_relaxed);
  if (Stores(op) && use != RegionUse::kStored) BeginStores(lane, region);
  if (!region->initialised) {
    if (op != AccessOp::kStore && !AllWritten(region->written + offset, bytes)) {
      Report(Check::kUninitialised, &lane, Stores(op), pc, where());
    }
    if (Stores(op)) SetWritten(region->written + offset, bytes);
  }
  // Volatile loads may acquire what a store releases.
  if (!Stores(op) && !lane.volatile_access && use != RegionUse::kStored &&
      !MustRecordLoads(region)) {
    return;
  }
  CheckRace(lane, &global_exact_, address, bytes, op, pc, where);
}

void AccessChecker::ExactShared(Lane& lane, uint32_t offset, int bytes, AccessOp op, uintptr_t pc) {
  // The last variable that starts at or before the access, or the first.
  const uint32_t in_block = offset % kSharedArenaBytes;
  const Variable* variable = nullptr;
  for (const Variable& v : variables_) {
    if (variable == nullptr || v.offset <= in_block) variable = &v;
  }
  if (variable == nullptr || in_block < variable->offset ||
      in_block + bytes > variable->offset + variable->bytes) {
    const std::string where =
        variable == nullptr
            ? "in a block that has none"
            : absl::StrCat("at byte ",
                           static_cast<int64_t>(in_block) - static_cast<int64_t>(variable->offset),
                           " of a __shared__ variable of ", variable->bytes);
    Report(Check::kOutOfBounds, &lane, Stores(op), pc,
           absl::StrCat(Size(bytes, op), " of shared memory ", where));
    return;
  }
  const auto where = [&] {
    return absl::StrCat(Size(bytes, op), " at byte ", in_block - variable->offset,
                        " of a __shared__ variable",
                        IsRemote(lane, offset) ? " of another block" : "");
  };
  if ((offset & (bytes - 1)) != 0) ReportFatal(Check::kMisaligned, lane, Stores(op), pc, where());
  uint8_t* written = shared_written_->As<uint8_t>() + offset;
  if (op != AccessOp::kStore && !AllWritten(written, bytes)) {
    Report(Check::kUninitialised, &lane, Stores(op), pc, where());
  }
  if (Stores(op)) SetWritten(written, bytes);
  CheckRace(lane, &shared_exact_, offset, bytes, op, pc, where);
}

void AccessChecker::CheckRace(Lane& lane, ExactShadow* shadow, uint64_t address, int bytes,
                              AccessOp op, uintptr_t pc, absl::FunctionRef<std::string()> where) {
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
  Report(Check::kRace, &lane, Stores(op), pc, where(), &other);
}

Culprit AccessChecker::CulpritOf(uint32_t thread, uintptr_t pc, bool store) const {
  const SimtIndex& block = context_->block;
  const SimtIndex at = context_->BlockAt(thread / context_->thread_stride);
  const uint32_t t = thread % context_->thread_stride;
  return {
      {at.x, at.y, at.z}, {t % block.x, t / block.x % block.y, t / block.x / block.y}, pc, store};
}

void AccessChecker::Report(Check check, const Lane* lane, bool store, uintptr_t pc,
                           std::string message, const Culprit* other) {
  const auto most = static_cast<size_t>(context_->options->max_findings);
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
  if (findings_.size() < most) return;
  context_->stop = context_->options->end_at_max_findings ? Stop::kFindings : Stop::kEnoughFindings;
  if (running_lane != nullptr) Leave(*running_lane);
}

void AccessChecker::ReportFatal(Check check, Lane& lane, bool store, uintptr_t pc,
                                std::string message) {
  Report(check, &lane, store, pc, std::move(message));
  context_->stop = Stop::kFindings;
  Leave(lane);
}

void AccessChecker::ReportOutside(Check check, const Lane& lane, uintptr_t pc,
                                  std::string message) {
  if (!exact_) {
    context_->stop = Stop::kExactly;
    return;
  }
  Report(check, &lane, false, pc, std::move(message));
  context_->stop = Stop::kFindings;
}

}  // namespace stridewise::executor
