// The worker's implementation of bulk copies: those of the tensor memory accelerator (TMA) and
// plain ones, between global and shared memory.
//
// A load arrives as late as it can: when no thread can go on without it. Until then its bytes are
// poison and count as uninitialised. A store reads shared memory until the thread has waited for
// its group; what it writes is in global memory at once.

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/executor/shim/simt_tensor_map.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
namespace {

constexpr uint32_t kPieceBytes = AsyncReads::kPieceBytes;
constexpr uint32_t kTensorAlignment = 128;  // Of a box in shared memory.

// Exchanges the pieces of 16 bytes as the TMA does: their numbers change with bits 7 and up.
uint32_t Swizzle(uint32_t address, uint32_t swizzle_bytes) {
  if (swizzle_bytes == 0) return address;
  return address ^ ((address >> 7) & (swizzle_bytes / kPieceBytes - 1)) << 4;
}

// Rounds the four floats of a piece to the nearest, ties to even.
void RoundToTf32(uint8_t* piece) {
  constexpr uint32_t kDropped = 0x1fff;
  constexpr uint32_t kInfinity = 0x7f800000;
  uint32_t floats[kPieceBytes / sizeof(uint32_t)];
  std::memcpy(floats, piece, kPieceBytes);
  for (uint32_t& bits : floats) {
    if ((bits & kInfinity) == kInfinity) continue;
    bits = (bits + (kDropped >> 1) + (bits >> 13 & 1)) & ~kDropped;
  }
  std::memcpy(piece, floats, kPieceBytes);
}

}  // namespace

void Worker::WrongBulkCopy(Lane& lane, uintptr_t pc, std::string message) {
  if (!exact_) Suspect(lane, Stop::kExactly);
  ReportFatal(Check::kBulkCopy, lane, false, pc, std::move(message));
}

// The pieces of a box, row by row. Of a piece that the tensor's end cuts `inside` bytes are in it.
std::vector<BulkPiece> Worker::PiecesOfBox(Lane& lane, const SimtTensorMap& map,
                                           const int64_t* first, uint32_t to, uintptr_t pc) {
  if (map.magic != SIMT_TENSOR_MAP_MAGIC) WrongBulkCopy(lane, pc, "the address of no tensor map");
  if (to % kTensorAlignment != 0) {
    WrongBulkCopy(lane, pc, "a box in shared memory that does not begin at a multiple of 128");
  }
  int64_t rows = 1;
  for (int i = 1; i < map.rank; ++i) rows *= map.box[i];
  const int64_t row_bytes = int64_t{map.box[0]} * map.element_bytes;
  const int64_t begin = first[0] * map.element_bytes;
  const int64_t end = (int64_t{map.last[0]} + 1) * map.element_bytes;
  std::vector<BulkPiece> pieces;
  pieces.reserve(static_cast<size_t>(rows * row_bytes / kPieceBytes));
  for (int64_t row = 0; row < rows; ++row) {
    bool inside = true;
    auto from = static_cast<int64_t>(map.base) + begin;
    int64_t rest = row;
    for (int i = 1; i < map.rank; ++i) {
      const int64_t at = first[i] + rest % map.box[i];
      rest /= map.box[i];
      inside = inside && at >= 0 && at <= int64_t{map.last[i]};
      from += at * static_cast<int64_t>(map.stride_bytes[i]);
    }
    for (int64_t byte = 0; byte < row_bytes; byte += kPieceBytes) {
      BulkPiece piece;
      piece.shared = Swizzle(to + static_cast<uint32_t>(row * row_bytes + byte), map.swizzle_bytes);
      piece.global = static_cast<uintptr_t>(from + byte);
      piece.rounds_to_tf32 = map.rounds_to_tf32;
      if (inside) {
        piece.begin = std::clamp<int64_t>(-begin - byte, 0, kPieceBytes);
        piece.end = std::clamp<int64_t>(end - begin - byte, piece.begin, kPieceBytes);
      }
      pieces.push_back(piece);
    }
  }
  return pieces;
}

std::vector<BulkPiece> Worker::PiecesOfRange(Lane& lane, uintptr_t global, uint32_t shared,
                                             uint32_t bytes, uintptr_t pc) {
  if (global % kPieceBytes != 0 || shared % kPieceBytes != 0 || bytes % kPieceBytes != 0) {
    WrongBulkCopy(lane, pc, "addresses and bytes of a bulk copy must be multiples of 16");
  }
  std::vector<BulkPiece> pieces;
  for (uint32_t i = 0; i < bytes; i += kPieceBytes) {
    pieces.push_back({shared + i, global + i, 0, kPieceBytes});
  }
  return pieces;
}

// Checks the bytes of a piece in global memory, as large accesses as their alignment allows.
void Worker::CheckBulkGlobal(Lane& lane, const BulkPiece& piece, AccessOp op, uintptr_t pc) {
  if (!check_) return;
  for (int64_t i = piece.begin; i < piece.end;) {
    const uintptr_t address = piece.global + static_cast<uintptr_t>(i);
    int log2 = 4;
    while (address % (1u << log2) != 0 || i + (1 << log2) > piece.end) --log2;
    CheckGlobalApart(lane, address, log2, op, pc);
    i += 1 << log2;
  }
}

void Worker::StartBulkLoad(Lane& lane, std::vector<BulkPiece> pieces, uintptr_t barrier,
                           uint32_t blocks, uintptr_t pc) {
  for (const BulkPiece& piece : pieces) CheckBulkGlobal(lane, piece, AccessOp::kLoad, pc);
  if (blocks == 0) return StartLoadIntoBlock(lane, std::move(pieces), barrier, pc);
  for (uint32_t rest = blocks; rest != 0; rest &= rest - 1) {
    const uint32_t arena = static_cast<uint32_t>(__builtin_ctz(rest)) * kSharedArenaBytes;
    const auto of_barrier = static_cast<uint32_t>(barrier - shared_) % kSharedArenaBytes;
    std::vector<BulkPiece> there = pieces;
    for (BulkPiece& piece : there) piece.shared = arena + piece.shared % kSharedArenaBytes;
    StartLoadIntoBlock(lane, std::move(there), shared_ + arena + of_barrier, pc);
  }
}

void Worker::StartLoadIntoBlock(Lane& lane, std::vector<BulkPiece> pieces, uintptr_t barrier,
                                uintptr_t pc) {
  (void)FindMbarrier(lane, barrier, pc);
  if (check_) CheckInitIsFenced(lane, barrier, pc);
  for (const BulkPiece& piece : pieces) {
    if (check_ && !CheckAsyncWrite(lane, piece.shared, pc)) Leave(lane);
    std::memset(shared_memory_->As<uint8_t>() + piece.shared, 0xff, kPieceBytes);
    std::memset(shared_written_->As<uint8_t>() + piece.shared, 0, kPieceBytes);
  }
  bulk_loads_.push_back({lane.index, pc, barrier, std::move(pieces)});
}

// Bulk copies see what a thread has initialised behind its fence.mbarrier_init, or one of the
// proxies.
void Worker::CheckInitIsFenced(Lane& lane, uintptr_t barrier, uintptr_t pc) {
  const auto init = mbarrier_inits_.find(static_cast<uint32_t>(barrier - shared_));
  if (init == mbarrier_inits_.end()) return;
  const Lane& initialiser = lanes_[init->second.lane];
  if (initialiser.init_fence_clock > init->second.clock) return;
  if (!exact_) Suspect(lane, Stop::kExactly);
  const Culprit other = CulpritOf(initialiser.now.thread, init->second.pc, true);
  Report(Check::kProxyFence, &lane, false, pc,
         "a bulk copy arrives at an mbarrier whose initialisation no fence.mbarrier_init or "
         "fence.proxy.async has followed",
         &other);
}

bool Worker::FinishBulkLoad() {
  if (bulk_loads_.empty()) return false;
  // In some schedules the last one overtakes the others.
  const bool last = (context_->options->schedule_seed & 1) != 0;
  const auto at = last ? bulk_loads_.end() - 1 : bulk_loads_.begin();
  const BulkLoad load = std::move(*at);
  bulk_loads_.erase(at);
  Lane& lane = lanes_[load.lane];
  for (const BulkPiece& piece : load.pieces) {
    if (check_ && !CheckAsyncWrite(lane, piece.shared, load.pc)) return true;
    uint8_t* const to = shared_memory_->As<uint8_t>() + piece.shared;
    std::memset(to, 0, kPieceBytes);
    if (piece.end > piece.begin) {
      std::memcpy(to + piece.begin, reinterpret_cast<const uint8_t*>(piece.global) + piece.begin,
                  static_cast<size_t>(piece.end - piece.begin));
      if (piece.rounds_to_tf32) RoundToTf32(to);
    }
    std::memset(shared_written_->As<uint8_t>() + piece.shared, 1, kPieceBytes);
  }
  const auto found = mbarriers_.find(static_cast<uint32_t>(load.barrier - shared_));
  std::string error = "the barrier of a bulk copy was invalidated before the copy arrived";
  if (found != mbarriers_.end()) {
    std::vector<uint32_t>& times = *found->second.released();
    times.resize(static_cast<size_t>(cluster_lanes_));
    uint32_t& time = times[IndexInCluster(load.lane)];
    time = std::max(time, ++lane.now.clock);
    error = found->second.CompleteBytes(static_cast<int64_t>(load.pieces.size()) * kPieceBytes);
  }
  if (!error.empty()) ReportOutside(Check::kMbarrier, lane, load.pc, std::move(error));
  return true;
}

void Worker::BulkStore(Lane& lane, const std::vector<BulkPiece>& pieces, uintptr_t pc) {
  const AsyncReads::Reader reader = {lane.index, 1, lane.bulk_groups, pc};
  lane.bulk_last = lane.bulk_groups;
  lane.bulk_pc = pc;
  for (const BulkPiece& piece : pieces) {
    if (check_) {
      if (!CheckAsyncRead(lane, piece.shared, pc)) Leave(lane);
      async_reads_.Add(piece.shared, reader);
    }
    if (piece.end <= piece.begin) continue;
    CheckBulkGlobal(lane, piece, AccessOp::kStore, pc);
    std::memcpy(reinterpret_cast<uint8_t*>(piece.global) + piece.begin,
                shared_memory_->As<uint8_t>() + piece.shared + piece.begin,
                static_cast<size_t>(piece.end - piece.begin));
  }
}

void Worker::WaitForBulkStores(Lane& lane, uint64_t groups_in_flight) {
  while (lane.bulk_ends.size() + groups_in_flight < lane.bulk_groups) {
    lane.bulk_ends.push_back(lane.now.clock);
  }
  ++lane.now.clock;
}

// Records a write of the TMA, which is as one of the thread that started it, but needs no fence
// between the proxies: the atomic mark stands for that.
void Worker::CheckBulkCopiesAreDone() {
  for (const BulkLoad& load : bulk_loads_) {
    if (context_->stop != Stop::kNo) return;
    const bool remote =
        !load.pieces.empty() && IsRemote(lanes_[load.lane], load.pieces.front().shared);
    ReportOutside(remote ? Check::kCluster : Check::kBulkCopy, lanes_[load.lane], load.pc,
                  "the block ends before the copy has arrived");
  }
  for (int i = 0; i < lane_count_ && context_->stop == Stop::kNo; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.bulk_pc == 0 || lane.bulk_last < lane.bulk_ends.size()) continue;
    ReportOutside(Check::kBulkCopy, lane, lane.bulk_pc,
                  "the thread ends without a wait for the copy, which may still read");
  }
}

}  // namespace stridewise::executor
