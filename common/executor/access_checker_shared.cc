// Checks of what only clusters and asynchronous copies do to shared memory: accesses of other
// blocks, operands that wgmma and the TMA read behind a thread's back, and sums that wgmma has not
// written.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/executor/access_checker.h"
#include "common/executor/access_checks.h"

namespace stridewise::executor {
namespace {

constexpr int kPieceBytes = AsyncReads::kPieceBytes;

}  // namespace

void AccessChecker::CheckRemoteAccess(Lane& lane, uint32_t offset, uintptr_t pc) {
  // Also where all blocks run at the same time, a block's shared memory is only its cluster's.
  if (offset / kSharedArenaBytes - ClusterRank(lane) >= context_->cluster_blocks) {
    WildAddress(lane, shared_ + offset, 0, AccessOp::kLoad, pc);
  }
  if (!NoteRemoteAccess(lane, offset, pc)) Leave(lane);
}

bool AccessChecker::NoteRemoteAccess(Lane& lane, uint32_t offset, uintptr_t pc) {
  const auto rank = static_cast<int>(offset / kSharedArenaBytes);
  if (rank >= static_cast<int>(context_->cluster_blocks)) return true;  // Not in any variable.
  remote_accesses_[{lane.index, rank}] = {lane.now.clock, pc};
  bool begun = lane.cluster_passed > 0;
  for (int i = 0; i < block_lanes_ && !begun && lane.now.acquired != nullptr; ++i) {
    begun = lane.now.acquired[rank * block_lanes_ + i] > cluster_clock_;
  }
  if (begun) return true;
  if (!exact_) {
    context_->stop = Stop::kExactly;
    return false;
  }
  Report(Check::kCluster, &lane, false, pc,
         "an access to the shared memory of another block, which may not have begun");
  return context_->stop == Stop::kNo;
}

void AccessChecker::LocalAccess(Lane& lane, uintptr_t address, AccessOp op, uintptr_t pc) {
  if (op != AccessOp::kLoad) return lane.accumulators.Store(address, lane.wgmma_ends.size());
  if (!lane.accumulators.IsRunning(address, lane.wgmma_ends.size())) return;
  if (!exact_) Suspect(lane, Stop::kExactly);
  ReportFatal(Check::kWgmma, lane, false, pc,
              "a sum is read before wgmma.wait_group for the multiplication that adds to it");
}

bool AccessChecker::Fenced(const Lane& reader, uint32_t thread, uint32_t clock) const {
  return clock < lanes_[thread - lanes_[0].now.thread].proxy_fence_clock ||
         (reader.fenced.thread == UINT32_MAX && reader.fenced.After(thread, clock));
}

bool AccessChecker::CheckAsyncRead(const Lane& lane, uint32_t offset, uintptr_t pc) {
  const Variable* const variable = VariableAt(offset, kPieceBytes);
  bool written = variable != nullptr;
  const uint8_t* const flags = shared_written_->As<uint8_t>() + offset;
  for (int i = 0; i < kPieceBytes && written; ++i) written = flags[i] != 0;
  if (!exact_) {
    bool suspicious = !written;
    const int granule = context_->shared_granule_log2;
    const Cell* const cells = shared_cells_->As<Cell>() + (offset >> granule);
    for (int i = 0; i < kPieceBytes >> granule && !suspicious; ++i) {
      const Stamp writer = cells[i].writer.load(std::memory_order_relaxed);
      if (writer == 0 || StampClock(writer) < cluster_clock_) continue;
      const uint32_t thread = StampWho(writer) - 1;
      suspicious = !lane.now.After(thread, StampClock(writer)) ||
                   !(StampAtomic(writer) || Fenced(lane, thread, StampClock(writer)));
    }
    if (suspicious) context_->stop = Stop::kExactly;
    return !suspicious;
  }
  const auto text = [&] {
    return absl::StrCat(
        "asynchronous 16-byte load at ",
        variable == nullptr
            ? absl::StrCat("byte ", offset % kSharedArenaBytes, " of shared memory, outside")
            : absl::StrCat("byte ", offset % kSharedArenaBytes - variable->offset, " of"),
        " a __shared__ variable");
  };
  if (variable == nullptr) {
    Report(Check::kOutOfBounds, &lane, false, pc, text());
    context_->stop = Stop::kFindings;
    return false;
  }
  if (!written) Report(Check::kUninitialised, &lane, false, pc, text());
  for (int i = 0; i < kPieceBytes; ++i) {
    const ExactShadow::Access* const writer = shared_exact_.WriterOf(offset + i);
    if (writer == nullptr) continue;
    const Culprit other = CulpritOf(writer->thread, writer->pc, true);
    if (!lane.now.After(writer->thread, writer->clock)) {
      Report(Check::kRace, &lane, false, pc, text(), &other);
    } else if (!writer->atomic && !Fenced(lane, writer->thread, writer->clock)) {
      Report(Check::kProxyFence, &lane, false, pc, text(), &other);
    }
  }
  return context_->stop == Stop::kNo;
}

const Culprit* AccessChecker::AsyncReadsRunAt(const Lane& lane, uint32_t offset, int bytes) {
  for (const AsyncReads::Reader& reader : async_reads_.Take(offset, bytes)) {
    bool ended = false;
    for (int i = 0; i < reader.threads && !ended; ++i) {
      const Lane& other = lanes_[reader.first_thread + i];
      const auto& ends = reader.threads == 1 ? other.bulk_ends : other.wgmma_ends;
      ended = reader.group < ends.size() && lane.now.After(other.now.thread, ends[reader.group]);
    }
    if (ended) continue;
    async_reader_ = CulpritOf(lanes_[reader.first_thread].now.thread, reader.pc, false);
    return &async_reader_;
  }
  return nullptr;
}

void AccessChecker::CheckAgainstAsyncReads(Lane& lane, uint32_t offset, int bytes, uintptr_t pc) {
  const Culprit* const other = AsyncReadsRunAt(lane, offset, bytes);
  if (other == nullptr) return;
  if (!exact_) Suspect(lane, Stop::kExactly);
  Report(Check::kRace, &lane, true, pc,
         absl::StrCat(bytes, "-byte store to shared memory that is still read asynchronously"),
         other);
}

bool AccessChecker::CheckAsyncWrite(Lane& lane, uint32_t offset, uintptr_t pc) {
  const Variable* const variable = VariableAt(offset, kPieceBytes);
  if (IsRemote(lane, offset) && !NoteRemoteAccess(lane, offset, pc)) return false;
  if (!exact_) {
    bool suspicious = variable == nullptr || AsyncReadsRunAt(lane, offset, kPieceBytes) != nullptr;
    const int granule = context_->shared_granule_log2;
    Cell* const cells = shared_cells_->As<Cell>() + (offset >> granule);
    for (int i = 0; i < kPieceBytes >> granule && !suspicious; ++i) {
      suspicious = SuspiciousWrite<false>(cells[i], lane.now, cluster_clock_, true);
    }
    if (suspicious) context_->stop = Stop::kExactly;
    return !suspicious;
  }
  if (variable == nullptr) {
    ReportOutside(Check::kOutOfBounds, lane, pc,
                  absl::StrCat("a bulk copy to byte ", offset % kSharedArenaBytes,
                               " of shared memory, outside of every __shared__ variable"));
    return false;
  }
  const std::string where = absl::StrCat(
      "asynchronous 16-byte store at byte ", offset % kSharedArenaBytes - variable->offset,
      " of a __shared__ variable", IsRemote(lane, offset) ? " of another block" : "");
  if (const Culprit* const other = AsyncReadsRunAt(lane, offset, kPieceBytes)) {
    Report(Check::kRace, &lane, true, pc, where, other);
  }
  const auto race = shared_exact_.Touch(
      offset, kPieceBytes, {lane.now.thread, lane.now.clock, pc, true, true, 0},
      [&](const ExactShadow::Access& other) { return lane.now.After(other.thread, other.clock); });
  if (race) {
    const Culprit other = CulpritOf(race->thread, race->pc, race->store);
    Report(Check::kRace, &lane, true, pc, where, &other);
  }
  return context_->stop == Stop::kNo;
}

}  // namespace stridewise::executor
