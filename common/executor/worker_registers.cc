// The worker's checks of setmaxnreg. The executor has no registers to share out; what it checks is
// what the PTX ISA demands of the instruction, and that a GPU could fulfil it: a warp whose
// setmaxnreg.inc asks for more than others have released waits forever.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/executor/ptx/wgmma.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
namespace {

constexpr uint64_t kLeast = 24;
constexpr uint64_t kMost = 256;
constexpr uint64_t kStep = 8;
constexpr uint64_t kRegistersOfMultiprocessor = 65536;

// Returns the most registers that each thread of a block can have been launched with.
uint64_t MostAtLaunch(uint64_t block_threads) {
  const uint64_t whole_warps = (block_threads + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
  return std::min(kMost, kRegistersOfMultiprocessor / whole_warps / kStep * kStep);
}

}  // namespace

void Worker::SetMaxRegisters(Lane& lane, bool raises, uint64_t count, uintptr_t pc) {
  if (!check_) return;
  std::string error;
  // Before the first setmaxnreg only an upper limit is known.
  const bool is_known = lane.max_registers > 0;
  const uint64_t present = is_known ? lane.max_registers : MostAtLaunch(context_->block_threads);
  if (count < kLeast || count > kMost || count % kStep != 0) {
    error = absl::StrCat("setmaxnreg takes a multiple of ", kStep, " from ", kLeast, " to ", kMost,
                         ", not ", count);
  } else if (raises && is_known && count < present) {
    error = absl::StrCat("setmaxnreg.inc to ", count, " of a thread that has ", present);
  } else if (!raises && count > present) {
    error = absl::StrCat("setmaxnreg.dec to ", count, " of a thread that has ",
                         is_known ? "" : "no more than ", present);
  }
  if (!error.empty()) {
    if (!exact_) Suspect(lane, Stop::kExactly);
    ReportFatal(Check::kRegisters, lane, false, pc, std::move(error));
  }
  lane.max_registers = static_cast<uint32_t>(count);
  ++lane.register_changes;
  lane.registers_pc = pc;
}

void Worker::CheckRegisters() {
  const auto threads = static_cast<int>(context_->block_threads);
  for (int first = 0; first < lane_count_ && context_->stop == Stop::kNo; first += block_lanes_) {
    uint64_t held = 0;
    uint64_t holders = 0;
    const Lane* last = nullptr;
    for (int i = 0; i < threads && context_->stop == Stop::kNo; ++i) {
      const Lane& lane = lanes_[first + i];
      const Lane& leader = lanes_[first + i / kWarpgroupThreads * kWarpgroupThreads];
      if (lane.register_changes != leader.register_changes ||
          lane.max_registers != leader.max_registers) {
        ReportOutside(Check::kRegisters, lane.register_changes > 0 ? lane : leader,
                      std::max(lane.registers_pc, leader.registers_pc),
                      "not all threads of the warpgroup come to the same setmaxnreg");
      }
      if (lane.register_changes == 0) continue;
      held += lane.max_registers;
      ++holders;
      if (last == nullptr || lane.max_registers > last->max_registers) last = &lane;
    }
    const uint64_t most = MostAtLaunch(context_->block_threads);
    if (context_->stop != Stop::kNo || held <= holders * most) continue;
    ReportOutside(Check::kRegisters, *last, last->registers_pc,
                  absl::StrCat("the ", holders, " threads that come to setmaxnreg have ", held,
                               " registers at the end; a block of ", threads,
                               " threads begins with no more than ", most, " each, ",
                               holders * most, " for these"));
  }
}

}  // namespace stridewise::executor
