// The worker's implementation of wgmma: 128 threads that come to an instruction, the operands that
// it reads from shared memory behind their backs, and what must come before and after.
//
// The sums are computed when all threads have come, and the registers have them at once. They are
// variables in the fiber's stack whose addresses are known, so that a load before wgmma.wait_group
// is found. The operands count as being read until a
// thread of the warpgroup has waited for the instruction's group.

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/executor/ptx/shared_descriptor.h"
#include "common/executor/ptx/wgmma.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
namespace {

constexpr int kPieceBytes = kDescriptorPieceBytes;
constexpr int kRowsOfWarp = kWgmmaRows / (kWarpgroupThreads / kWarpLanes);
static_assert(AsyncReads::kPieceBytes == kPieceBytes);

// Where the operands of an instruction lie among its values.
struct Operands {
  int a, b, scale, factors, turns, end;
  bool a_in_registers;

  explicit Operands(const PtxInstruction& instruction) {
    const TensorForm& form = instruction.opcode.form;
    const int of_a = static_cast<int>(instruction.operands[1].values.size());
    a_in_registers = of_a == kWgmmaWordsOfA;
    a = WgmmaWordsOfD(form);
    b = a + of_a;
    scale = b + 1;
    factors = scale + 1;
    turns = factors + (form.sums == TensorType::kS32 ? 0 : 2);
    end = turns + (TensorTypeBits(form.a) != 16 ? 0 : a_in_registers ? 1 : 2);
  }
};

SharedOperand OperandOf(uint64_t descriptor, TensorType type, bool turned, int extent, int depth) {
  SharedOperand operand;
  operand.descriptor = DecodeSharedDescriptor(descriptor);
  operand.mn_major = turned;
  operand.element_bytes = TensorTypeBits(type) / 8;
  operand.extent = extent;
  operand.depth = depth;
  return operand;
}

}  // namespace

void Worker::ProxyFence(Lane& lane) {
  lane.proxy_fence_clock = lane.init_fence_clock = ++lane.now.clock;
  lane.fenced = lane.now;
  lane.fenced.thread = UINT32_MAX;  // Of its own stores the clock above decides.
}

void Worker::Wgmma(Lane& lane, const char* text, uint64_t* arguments, void* const* registers,
                   int count, uintptr_t pc) {
  uint32_t word = 0;
  constexpr int kLog2Bytes = 2;
  static_assert(sizeof(word) == Accumulators::kBytes && sizeof(word) == 1 << kLog2Bytes);
  // Whatever is not in registers is loaded before and stored behind the instruction.
  const auto access = [&](void* at, AccessOp op) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    if (!lane.IsLocal(address)) Access(lane, address, kLog2Bytes, op, pc);
  };
  for (int i = 0; i < count; ++i) {
    if (registers[i] == nullptr) continue;
    access(registers[i], AccessOp::kLoad);
    std::memcpy(&word, registers[i], sizeof(word));
    arguments[i] = word;
  }
  lane.accumulators_changed =
      check_ && lane.accumulators.Multiply(registers, count, lane.wgmma_groups);
  Ptx(lane, text, arguments, count, pc);
  for (int i = 0; i < count; ++i) {
    if (registers[i] == nullptr) continue;
    word = static_cast<uint32_t>(arguments[i]);
    access(registers[i], AccessOp::kStore);
    std::memcpy(registers[i], &word, sizeof(word));
  }
}

void Worker::CommitWgmma(Lane& lane) { ++lane.wgmma_groups; }

void Worker::WaitForWgmma(Lane& lane, uint64_t groups_in_flight) {
  while (lane.wgmma_ends.size() + groups_in_flight < lane.wgmma_groups) {
    lane.wgmma_ends.push_back(lane.now.clock);
  }
  ++lane.now.clock;
}

void Worker::WrongWgmma(const Lane& lane, std::string message) {
  if (!exact_) {
    context_->stop = Stop::kExactly;
    return;
  }
  Report(Check::kWgmma, &lane, false, lane.wait_pc, std::move(message));
  context_->stop = Stop::kFindings;
}

// The lane waits until all threads of its warpgroup have come to the instruction.
void Worker::ExecuteWithWarpgroup(const PtxInstruction& instruction, Lane& lane,
                                  uint64_t* registers, uint64_t* arguments, uintptr_t pc) {
  uint64_t values[kMaxWgmmaValues];
  size_t count = 0;
  for (const PtxOperand& operand : instruction.operands) {
    for (const PtxValue& value : operand.values) {
      values[count++] = ReadPtxValue(value, registers, arguments, lane);
    }
  }
  lane.instruction = &instruction;
  lane.operands = values;
  Wait(lane, LaneState::kAtWarpgroup, pc);
  lane.instruction = nullptr;
  lane.operands = nullptr;
  lane.wgmma_pc = pc;
  lane.wgmma_last = lane.wgmma_groups;
  const PtxOperand& results = instruction.operands[0];
  for (size_t i = 0; i < results.values.size(); ++i) {
    WritePtxValue(results.values[i], values[i], registers, arguments);
  }
}

bool Worker::ReleaseWarpgroups() {
  bool released = false;
  // Warpgroups that the block has whole, of each block.
  const int of_block = static_cast<int>(context_->block_threads) / kWarpgroupThreads;
  const int groups = of_block * static_cast<int>(blocks_.size());
  for (int group = 0; group < groups && context_->stop == Stop::kNo; ++group) {
    const int first = group / of_block * block_lanes_ + group % of_block * kWarpgroupThreads;
    const Lane& leader = lanes_[first];
    bool complete = true;
    for (int i = 0; i < kWarpgroupThreads && complete; ++i) {
      const Lane& lane = lanes_[first + i];
      complete = lane.state == LaneState::kAtWarpgroup && lane.instruction == leader.instruction &&
                 lane.wait_pc == leader.wait_pc;
    }
    if (!complete) continue;
    MultiplyOfWarpgroup(first);
    for (int i = 0; i < kWarpgroupThreads; ++i) lanes_[first + i].state = LaneState::kReady;
    released = true;
  }
  return released && context_->stop == Stop::kNo;
}

void Worker::MultiplyOfWarpgroup(int first) {
  const Lane& leader = lanes_[first];
  const PtxInstruction& instruction = *leader.instruction;
  const TensorForm& form = instruction.opcode.form;
  const Operands at(instruction);
  const uint64_t* const values = leader.operands;
  for (int i = 0; i < kWarpgroupThreads; ++i) {
    const Lane& lane = lanes_[first + i];
    if (check_ && !lane.wgmma_fenced) {
      return WrongWgmma(lane, "wgmma.mma_async before any wgmma.fence");
    }
    if (lane.accumulators_changed && lane.operands[at.scale] != 0) {
      return WrongWgmma(lane, "the registers of sums were changed since the last wgmma.fence");
    }
    for (int v = at.a_in_registers ? at.b : at.a; v < at.end; ++v) {
      if (lane.operands[v] == values[v]) continue;
      return WrongWgmma(lane, "threads of a warpgroup give different descriptors or scales");
    }
  }
  const bool two_turns = at.end - at.turns == 2;
  const SharedOperand a = OperandOf(at.a_in_registers ? 0 : values[at.a], form.a,
                                    two_turns && values[at.turns] != 0, form.m, form.k);
  const SharedOperand b =
      OperandOf(values[at.b], form.b, at.end > at.turns && values[at.end - 1] != 0, form.n, form.k);
  if (a.descriptor.has_reserved_bits || b.descriptor.has_reserved_bits) {
    return WrongWgmma(leader, "a descriptor of shared memory has bits that belong to no field");
  }
  if (check_) {
    if (!at.a_in_registers && !ReadAsynchronously(first, a, true)) return;
    if (!ReadAsynchronously(first, b, false)) return;
  }
  std::vector<uint32_t> of_a(static_cast<size_t>(form.m * form.k));
  std::vector<uint32_t> of_b(static_cast<size_t>(form.n * form.k));
  std::vector<uint32_t> of_d(static_cast<size_t>(form.m * form.n));
  const auto* const shared = shared_memory_->As<uint8_t>() + leader.arena;
  LoadSharedOperand(b, shared, kSharedArenaBytes, of_b.data());
  if (!at.a_in_registers) LoadSharedOperand(a, shared, kSharedArenaBytes, of_a.data());
  std::vector<uint32_t> words(static_cast<size_t>(at.end));
  for (int i = 0; i < kWarpgroupThreads; ++i) {
    const uint64_t* const mine = lanes_[first + i].operands;
    for (int v = 0; v < at.end; ++v) words[v] = static_cast<uint32_t>(mine[v]);
    PutWgmmaD(form, i, words.data(), of_d.data());
    if (at.a_in_registers) PutWgmmaA(form, i, words.data() + at.a, of_a.data());
  }
  WgmmaScales scales;
  scales.accumulate = values[at.scale] != 0;
  if (at.turns > at.factors) {
    scales.negate_a = static_cast<int32_t>(values[at.factors]) == -1;
    scales.negate_b = static_cast<int32_t>(values[at.factors + 1]) == -1;
  }
  MultiplyWarpgroup(form, scales, of_a.data(), of_b.data(), of_d.data());
  for (int i = 0; i < kWarpgroupThreads; ++i) {
    TakeWgmmaD(form, i, of_d.data(), words.data());
    for (int v = 0; v < at.a; ++v) lanes_[first + i].operands[v] = words[v];
  }
}

// Each warp reads its own rows of A and all of B: a piece for each lane in turn.
bool Worker::ReadAsynchronously(int first, const SharedOperand& operand, bool is_a) {
  const Lane& leader = lanes_[first];
  const std::vector<uint32_t> pieces = PieceAddresses(operand);
  const int each = kPieceBytes / operand.element_bytes;
  const int in_row = (operand.mn_major ? operand.extent : operand.depth) / each;
  const AsyncReads::Reader reader = {first, kWarpgroupThreads, leader.wgmma_groups, leader.wait_pc};
  for (int p = 0; p < static_cast<int>(pieces.size()); ++p) {
    const int row = operand.mn_major ? p % in_row * each : p / in_row;
    for (int warp = 0; warp < kWarpgroupThreads / kWarpLanes; ++warp) {
      if (is_a && warp != row / kRowsOfWarp) continue;
      const Lane& lane = lanes_[first + warp * kWarpLanes + p % kWarpLanes];
      if (!CheckAsyncRead(lane, leader.arena + pieces[p], leader.wait_pc)) return false;
    }
    async_reads_.Add(leader.arena + pieces[p], reader);
  }
  return true;
}

void Worker::CheckWgmmaIsDone() {
  for (int i = 0; i < lane_count_ && context_->stop == Stop::kNo; ++i) {
    Lane& lane = lanes_[i];
    if (lane.wgmma_pc == 0 || lane.wgmma_last < lane.wgmma_ends.size()) continue;
    lane.wait_pc = lane.wgmma_pc;
    WrongWgmma(lane, "the thread ends without wgmma.wait_group for the multiplication");
  }
}

}  // namespace stridewise::executor
