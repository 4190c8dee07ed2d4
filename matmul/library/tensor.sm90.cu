// BF16 and FP16 by tensor cores, what `auto` runs: of tensor_tile, tensor_divided, tensor_turned,
// tensor_single, tensor_split, tensor_k_parts, tensor_decode, tensor_pair, tensor_lines,
// tensor_general, tensor_direct, tensor_ring, tensor_small, tensor_vector, tensor_shallow and
// tensor_tiny the one whose time is predicted to be the least. Where rows of operands do not begin
// at multiples of 16 bytes, which the TMA needs, these may also multiply copies of them in the
// workspace.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/direct_plan.h"
#include "matmul/device/tensor/divided_plan.h"
#include "matmul/device/tensor/k_parts_plan.h"
#include "matmul/device/tensor/lines_plan.h"
#include "matmul/device/tensor/pack.h"
#include "matmul/device/tensor/packed_call.h"
#include "matmul/device/tensor/pair_plan.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/ring_plan.h"
#include "matmul/device/tensor/shallow_plan.h"
#include "matmul/device/tensor/single_plan.h"
#include "matmul/device/tensor/small_plan.h"
#include "matmul/device/tensor/split_plan.h"
#include "matmul/device/tensor/tile_plan.h"
#include "matmul/device/tensor/tiny_plan.h"
#include "matmul/device/tensor/turned_plan.h"
#include "matmul/device/tensor/vector_plan.h"
#include "matmul/latest_choices.h"
#include "matmul/tensor_corrections.h"

namespace stridewise {
namespace {

// Of a single line, which may have any leading dimension.
int64_t LdOfLine(int64_t length) { return CeilDiv(length, int64_t{kChunk}) * kChunk; }

// Returns the call with what the TMA asks for where that is only a name: single lines have leading
// dimensions of 16 bytes, and a single row or column whose elements are neighbours lies along k.
MatMulArgs WithLinesAlongK(MatMulArgs args) {
  const auto change = [&](int64_t mn, bool k_major_if, MatMulInput* input) {
    if (mn != 1) return;
    if (input->transposed != k_major_if && input->ld == 1) input->transposed = k_major_if;
    if (input->transposed == k_major_if) input->ld = LdOfLine(args.k);
  };
  change(args.m, /*k_major_if=*/false, &args.a);
  change(args.n, /*k_major_if=*/true, &args.b);
  if (args.m == 1) args.c.ld = LdOfLine(args.n);
  return args;
}

// What runs a call.
struct Choice {
  const MatMulFunctions* functions = nullptr;
  double us = 0;
  bool packs = false;  // Whether it runs on copies of the operands.
};

const MatMulFunctions& Tile() {
  static const MatMulFunctions tile = FunctionsOf("tensor_tile");
  return tile;
}
const MatMulFunctions& Divided() {
  static const MatMulFunctions divided = FunctionsOf("tensor_divided");
  return divided;
}
const MatMulFunctions& Turned() {
  static const MatMulFunctions turned = FunctionsOf("tensor_turned");
  return turned;
}
const MatMulFunctions& Single() {
  static const MatMulFunctions single = FunctionsOf("tensor_single");
  return single;
}
const MatMulFunctions& Split() {
  static const MatMulFunctions split = FunctionsOf("tensor_split");
  return split;
}
const MatMulFunctions& KParts() {
  static const MatMulFunctions k_parts = FunctionsOf("tensor_k_parts");
  return k_parts;
}
const MatMulFunctions& Decode() {
  static const MatMulFunctions decode = FunctionsOf("tensor_decode");
  return decode;
}
const MatMulFunctions& Pair() {
  static const MatMulFunctions pair = FunctionsOf("tensor_pair");
  return pair;
}
const MatMulFunctions& Lines() {
  static const MatMulFunctions lines = FunctionsOf("tensor_lines");
  return lines;
}
const MatMulFunctions& General() {
  static const MatMulFunctions general = FunctionsOf("tensor_general");
  return general;
}
const MatMulFunctions& Direct() {
  static const MatMulFunctions direct = FunctionsOf("tensor_direct");
  return direct;
}
const MatMulFunctions& Ring() {
  static const MatMulFunctions ring = FunctionsOf("tensor_ring");
  return ring;
}
const MatMulFunctions& Small() {
  static const MatMulFunctions small = FunctionsOf("tensor_small");
  return small;
}
const MatMulFunctions& Shallow() {
  static const MatMulFunctions shallow = FunctionsOf("tensor_shallow");
  return shallow;
}
const MatMulFunctions& Vector() {
  static const MatMulFunctions vector = FunctionsOf("tensor_vector");
  return vector;
}
const MatMulFunctions& Tiny() {
  static const MatMulFunctions tiny = FunctionsOf("tensor_tiny");
  return tiny;
}

// Returns the time of MatMulEpiloguePass(), which reads and writes C.
double PassUs(const MatMulArgs& args) {
  constexpr double kLaunchUs = 2.5;
  constexpr double kBytesOfUs = 3e6;
  return kLaunchUs + 2.0 * static_cast<double>(args.m) * static_cast<double>(args.n) *
                         static_cast<double>(args.batch) *
                         static_cast<double>(ElementBytes(args.c.type)) / kBytesOfUs;
}

// Returns the faster one of the kernels that need the TMA. Assumes that it takes the operands.
// tensor_tile, tensor_divided, tensor_turned and tensor_single have no bias and no activation: they
// are a pass of its own after it.
Choice ChooseByTma(const MatMulArgs& args, const DeviceModel& device) {
  const double pass = HasEpilogue(args) ? PassUs(args) : 0;
  Choice best = {&Tile(), PlanTensorTile(args, device).us + pass};
  const DividedPlan divided = PlanTensorDivided(args, device);
  if (divided.us + pass < best.us && args.workspace_bytes >= divided.WorkspaceBytes()) {
    best = {&Divided(), divided.us + pass};
  }
  if (TensorTurnedTakes(args)) {
    const double turned = PlanTensorTurned(args, device).us + pass;
    if (turned < best.us) best = {&Turned(), turned};
  }
  if (TensorSingleTakes(args)) {
    const double single = PlanTensorSingle(args, device).us + pass;
    if (single < best.us) best = {&Single(), single};
  }
  const double split = PlanTensorSplit(args, device).us;
  if (split < best.us) best = {&Split(), split};
  const KPartsPlan k_parts = PlanTensorKParts(args, device);
  if (k_parts.us < best.us && args.workspace_bytes >= k_parts.WorkspaceBytes()) {
    best = {&KParts(), k_parts.us};
  }
  if (TensorDecodeTakes(args)) {
    const double decode = PlanTensorDecode(args, device).us;
    if (decode < best.us) best = {&Decode(), decode};
  }
  const double pair = PlanTensorPair(args, device).us;
  if (pair < best.us) best = {&Pair(), pair};
  const double lines = PlanTensorLines(args, device).us;
  if (lines < best.us) best = {&Lines(), lines};
  return best;
}

// Returns the fastest one of the kernels that take operands of any alignment.
Choice ChooseForAny(const MatMulArgs& args, const DeviceModel& device) {
  Choice best = {&General(), PlanTensorGeneral(args, device).us};
  if (TensorTinyTakes(args) && IsTiny(args)) {
    const double tiny = TensorTinyUs(args, device);
    if (tiny < best.us) best = {&Tiny(), tiny};
  }
  if (TensorDirectTakes(args)) {
    const double direct = PlanTensorDirect(args, device).us;
    if (direct < best.us) best = {&Direct(), direct};
  }
  if (TensorRingTakes(args) && std::min(args.m, args.n) <= kRingMostFew) {
    const double ring = PlanTensorRing(args, device).us;
    if (ring < best.us) best = {&Ring(), ring};
  }
  if (TensorSmallTakes(args)) {
    const double small = PlanTensorSmall(args, device).us;
    if (small < best.us) best = {&Small(), small};
  }
  if (TensorVectorTakes(args)) {
    const double vector = PlanTensorVector(args, device).us;
    if (vector < best.us) best = {&Vector(), vector};
  }
  if (TensorShallowTakes(args)) {
    const double shallow = TensorShallowUs(args, device);
    if (shallow < best.us) best = {&Shallow(), shallow};
  }
  return best;
}

LaunchStatus RunChoice(const Choice& choice, const MatMulArgs& args) {
  const bool needs_pass = choice.functions == &Tile() || choice.functions == &Divided() ||
                          choice.functions == &Turned() || choice.functions == &Single();
  return needs_pass ? RunWithPass(choice.functions->run, args) : choice.functions->run(args);
}

// Returns whether a copy may be worth its time at all, and can be made.
bool CanPack(const MatMulArgs& args, const DeviceModel& device) {
  return TmaTakesProduct(args, device) &&
         (args.m + args.n) * args.k * args.batch / kChunk < int64_t{1} << 30;
}

// Returns whether a kernel and the copies that it needs are expected to be the fastest.
bool ShouldPack(const MatMulArgs& args, const DeviceModel& device, const PackedCall& call,
                const Choice& by_tma) {
  const double us = Corrected(TensorPredicted::kCopied, call.args, device, PlannedTiles(),
                              by_tma.us + CopiesUs(call.written_bytes(), device));
  return us < ChooseForAny(args, device).us;
}

Choice ChooseAnew(const MatMulArgs& args, const DeviceModel& device) {
  if (!TmaTakes(args, device) && args.workspace_bytes > 0 && CanPack(args, device)) {
    const PackedCall call = PackedCallOf(args);
    if (call.bytes() <= args.workspace_bytes) {
      Choice by_tma = ChooseByTma(call.args, device);
      by_tma.packs = ShouldPack(args, device, call, by_tma);
      if (by_tma.packs) return by_tma;
    }
  }
  const Choice for_any = ChooseForAny(args, device);
  if (!TmaTakes(args, device)) return for_any;
  const Choice by_tma = ChooseByTma(args, device);
  return by_tma.us <= for_any.us ? by_tma : for_any;
}

LaunchStatus RunPacked(const MatMulArgs& args, const DeviceModel& device, const Choice& choice) {
  const PackedCall call = PackedCallOf(args);
  const int64_t vectors = call.a.packed.vectors() + call.b.packed.vectors();
  // Several vectors for each thread, whose loads are under way together, as far as there are
  // enough.
  const int64_t blocks =
      std::min<int64_t>(CeilDiv(vectors, kPackThreads), int64_t{device.multiprocessors} * 2);
  RETURN_IF_ERROR(Launch(PackOperands, Grid{blocks}, Block{kPackThreads}, 0, args.stream,
                         call.a.packed, call.b.packed));
  return RunChoice(choice, call.args);
}

// Returns the bytes of workspace that a choice needs.
int64_t BytesOf(const Choice& choice, const MatMulArgs& args, const DeviceModel& device) {
  const int64_t copies = choice.packs ? PackedCallOf(args).bytes() : 0;
  if (choice.functions == &Divided()) {
    return copies + PlanTensorDivided(args, device).WorkspaceBytes();
  }
  if (choice.functions == &KParts()) {
    return copies + PlanTensorKParts(args, device).WorkspaceBytes();
  }
  return copies;
}

}  // namespace

int64_t MatMulTensorWorkspaceBytes(const MatMulArgs& call_args) {
  MatMulArgs args = WithLinesAlongK(call_args);
  if (args.m == 0 || args.n == 0 || args.batch == 0) return 0;
  args.workspace = nullptr;
  args.workspace_bytes = std::numeric_limits<int64_t>::max();
  const DeviceModel device = DeviceOf(args);
  static thread_local LatestChoices<int64_t> latest;
  return latest.For(args, device, HasEpilogue(args) ? 1 : 0,
                    [&] { return BytesOf(ChooseAnew(args, device), args, device); });
}

LaunchStatus MatMulTensor(const MatMulArgs& call_args) {
  const MatMulArgs args = WithLinesAlongK(call_args);
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  static thread_local LatestChoices<Choice> latest;
  const Choice choice =
      latest.For(args, device, HasEpilogue(args) ? 1 : 0, [&] { return ChooseAnew(args, device); });
  return choice.packs ? RunPacked(args, device, choice) : RunChoice(choice, args);
}

}  // namespace stridewise
