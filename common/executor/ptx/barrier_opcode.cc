#include "common/executor/ptx/barrier_opcode.h"

namespace stridewise::executor {
namespace {

using Names = std::vector<absl::string_view>;

// Takes what may follow the operation's name from names[next] on. Returns false for anything else.
bool Modifiers(const Names& names, size_t next, PtxOpcode* opcode) {
  const bool arrives = opcode->barrier == MbarrierOp::kArrive;
  const bool waits = opcode->barrier == MbarrierOp::kWait;
  for (; next < names.size(); ++next) {
    const absl::string_view name = names[next];
    if (name == "expect_tx" && arrives) {
      opcode->expects_bytes = true;
    } else if (name == "noComplete" && arrives) {
      opcode->never_completes = true;
    } else if (name == "parity" && waits) {
      opcode->by_parity = true;
    } else if (name == "relaxed") {
      opcode->orders = false;
    } else if (name == "shared" || name == "shared::cta" || name == "shared::cluster") {
      opcode->space = PtxSpace::kShared;
    } else if (!(name == "release" && arrives) && !(name == "acquire" && waits) && name != "cta" &&
               name != "cluster" && name != "b64") {
      return false;
    }
  }
  return true;
}

std::optional<PtxOpcode> MbarrierOpcode(const Names& names) {
  const struct {
    const char* name;
    MbarrierOp op;
  } operations[] = {
      {"init", MbarrierOp::kInit},
      {"inval", MbarrierOp::kInvalidate},
      {"arrive", MbarrierOp::kArrive},
      {"arrive_drop", MbarrierOp::kArrive},
      {"expect_tx", MbarrierOp::kExpectBytes},
      {"complete_tx", MbarrierOp::kCompleteBytes},
      {"test_wait", MbarrierOp::kWait},
      {"try_wait", MbarrierOp::kWait},
      {"pending_count", MbarrierOp::kPendingCount},
  };
  for (const auto& operation : operations) {
    if (names.size() < 2 || names[1] != operation.name) continue;
    PtxOpcode opcode = {PtxKind::kMbarrier};
    opcode.barrier = operation.op;
    opcode.drops = names[1] == "arrive_drop";
    if (!Modifiers(names, 2, &opcode)) return std::nullopt;
    return opcode;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PtxOpcode> FindBarrierOpcode(const Names& names) {
  const size_t count = names.size();
  if (names[0] == "mbarrier") return MbarrierOpcode(names);
  if (names[0] == "elect" && count == 1) return PtxOpcode{PtxKind::kElect};
  if (names[0] == "cp" && count > 4 && names[2] == "mbarrier" && names[3] == "arrive") {
    PtxOpcode opcode = {PtxKind::kArriveAfterCopies};
    opcode.counts = names[4] == "noinc";
    if (!Modifiers(names, opcode.counts ? 5 : 4, &opcode)) return std::nullopt;
    return opcode;
  }
  if (names[0] != "bar" && names[0] != "barrier") return std::nullopt;
  const bool of_cluster = count > 1 && names[1] == "cluster";
  PtxOpcode opcode = {of_cluster ? PtxKind::kClusterBarrier : PtxKind::kBarrier};
  size_t next = of_cluster || (count > 1 && names[1] == "cta") ? 2 : 1;
  if (next < count && names[next] == "arrive") {
    opcode.barrier = MbarrierOp::kArrive;
    ++next;
  } else if (of_cluster) {
    if (next == count || names[next++] != "wait") return std::nullopt;
  }
  if (of_cluster ? !Modifiers(names, next, &opcode) : next != count) return std::nullopt;
  return opcode;
}

}  // namespace stridewise::executor
