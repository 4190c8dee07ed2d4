#include "common/executor/ptx/opcode.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/executor/ptx/atomic_opcode.h"
#include "common/executor/ptx/barrier_opcode.h"
#include "common/executor/ptx/wgmma.h"

namespace stridewise::executor {
namespace {

using Names = std::vector<absl::string_view>;

// Modifiers that change nothing here: hints to caches, and what every form that is known has.
bool IsHint(absl::string_view name) {
  for (const absl::string_view hint :
       {"sync", "aligned", "volatile", "weak", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt"}) {
    if (name == hint) return true;
  }
  return absl::StartsWith(name, "L1::") || absl::StartsWith(name, "L2::");
}

// ld and st: [space] [vector] type.
std::optional<PtxOpcode> MemoryAccess(PtxKind kind, const Names& names) {
  PtxOpcode opcode = {kind};
  size_t next = 1;
  if (next < names.size()) {
    if (const auto space = FindPtxSpace(names[next])) {
      opcode.space = *space;
      ++next;
    }
  }
  if (next < names.size() && (names[next] == "v2" || names[next] == "v4")) {
    opcode.count = names[next++][1] - '0';
  }
  if (next + 1 != names.size()) return std::nullopt;
  const auto type = FindPtxType(names[next]);
  if (!type || type->bits * opcode.count > 128) return std::nullopt;
  opcode.type = *type;
  return opcode;
}

// ldmatrix and stmatrix: m8n8.count[.trans].shared.b16.
std::optional<PtxOpcode> Matrices(PtxKind kind, const Names& names) {
  PtxOpcode opcode = {kind};
  Names rest = names;
  if (rest.size() == 6 && rest[3] == "trans") {
    opcode.transposed = true;
    rest.erase(rest.begin() + 3);
  }
  if (rest.size() != 5 || rest[1] != "m8n8" || FindPtxSpace(rest[3]) != PtxSpace::kShared ||
      rest[4] != "b16") {
    return std::nullopt;
  }
  opcode.count = rest[2] == "x1" ? 1 : rest[2] == "x2" ? 2 : rest[2] == "x4" ? 4 : 0;
  if (opcode.count == 0) return std::nullopt;
  return opcode;
}

// mma: m16n8k<depth>.row.col.<d>.<a>.<b>.<c>, where A takes 8, 16 or 32 bytes of k.
std::optional<PtxOpcode> Multiply(const Names& names) {
  if (names.size() != 8 || !absl::StartsWith(names[1], "m16n8k") || names[2] != "row" ||
      names[3] != "col" || names[4] != names[7]) {
    return std::nullopt;
  }
  PtxOpcode opcode = {PtxKind::kMultiply};
  TensorForm& form = opcode.form;
  form.m = 16;
  form.n = 8;
  const auto sums = FindTensorType(names[4]);
  const auto a = FindTensorType(names[5]);
  const auto b = FindTensorType(names[6]);
  if (!absl::SimpleAtoi(names[1].substr(6), &form.k) || !sums || !a || !b) return std::nullopt;
  form.sums = *sums;
  form.a = *a;
  form.b = *b;
  const int bytes_of_k = form.k * TensorTypeBits(form.a) / 8;
  const auto is_8_bit_float = [](TensorType type) {
    return type == TensorType::kE4m3 || type == TensorType::kE5m2;
  };
  const auto is_integer = [](TensorType type) {
    return type == TensorType::kS8 || type == TensorType::kU8;
  };
  bool known = false;
  if (is_integer(form.a)) {
    known = is_integer(form.b) && form.sums == TensorType::kS32;
  } else if (is_8_bit_float(form.a)) {
    known = is_8_bit_float(form.b) && form.sums == TensorType::kF32 && bytes_of_k == 32;
    form.as_fp16 = true;
  } else if (form.a == form.b) {
    known = form.sums == TensorType::kF32 ||
            (form.a == TensorType::kF16 && form.sums == TensorType::kF16);
  }
  if (!known || (bytes_of_k != 16 && bytes_of_k != 32)) return std::nullopt;
  return opcode;
}

// cvt and cvta have forms of their own.
std::optional<PtxOpcode> Whole(absl::string_view name) {
  const struct {
    const char* name;
    PtxOpcode opcode;
  } opcodes[] = {
      {"bra", {PtxKind::kBranch}},
      {"bra.uni", {PtxKind::kBranch}},
      {"cp.async.shared.global", {PtxKind::kCopyAsync}},
      {"cp.async.shared::cta.global", {PtxKind::kCopyAsync}},
      {"cp.async.commit_group", {PtxKind::kCommitCopies}},
      {"cp.async.wait_group", {PtxKind::kWaitForCopies}},
      {"cp.async.wait_all", {PtxKind::kWaitForAllCopies}},
      {"mapa.shared::cluster.u32", {PtxKind::kSharedOfCluster, {'u', 32}, 0, PtxSpace::kShared}},
      {"mapa.u64", {PtxKind::kSharedOfCluster, {'u', 64}}},
      {"getctarank.shared::cluster.u32",
       {PtxKind::kRankOfAddress, {'u', 32}, 0, PtxSpace::kShared}},
      {"getctarank.u64", {PtxKind::kRankOfAddress, {'u', 64}}},
      {"movmatrix.m8n8.trans.b16", {PtxKind::kTransposeMatrix}},
      {"createpolicy.fractional.b64", {PtxKind::kCachePolicy}},
      {"cvt.rna.tf32.f32", {PtxKind::kRoundToTf32}},
      {"cvt.u32.u16", {PtxKind::kMove, {'u', 16}}},
      {"griddepcontrol.wait", {PtxKind::kNothing}},
      {"griddepcontrol.launch_dependents", {PtxKind::kNothing}},
      {"prefetch.tensormap", {PtxKind::kNothing}},
      {"setmaxnreg.inc.u32", {PtxKind::kRegisters, {'u', 32}, '+'}},
      {"setmaxnreg.dec.u32", {PtxKind::kRegisters, {'u', 32}, '-'}},
      {"fence.mbarrier_init.release.cluster", {PtxKind::kMbarrierInitFence}},
      {"fence.proxy.async", {PtxKind::kProxyFence}},
      {"fence.proxy.async.global", {PtxKind::kNothing}},
      {"fence.proxy.async.shared::cta", {PtxKind::kProxyFence}},
      {"fence.proxy.async.shared::cluster", {PtxKind::kProxyFence}},
      {"cp.async.bulk.commit_group", {PtxKind::kCommitBulkCopies}},
      {"cp.async.bulk.wait_group", {PtxKind::kWaitForBulkCopies}},
      {"cp.async.bulk.wait_group.read", {PtxKind::kWaitForBulkCopies}},
      {"wgmma.fence", {PtxKind::kWgmmaFence}},
      {"wgmma.commit_group", {PtxKind::kWgmmaCommit}},
      {"wgmma.wait_group", {PtxKind::kWgmmaWait}},
  };
  for (const auto& entry : opcodes) {
    if (name == entry.name) return entry.opcode;
  }
  return std::nullopt;
}

// cp.async.bulk[.tensor.<n>d].<to>.<from>[.tile].<how it completes>[.multicast::cluster].
std::optional<PtxOpcode> BulkCopy(const Names& names) {
  PtxOpcode opcode = {PtxKind::kBulkLoad};
  size_t next = 3;
  if (names.size() > 4 && names[3] == "tensor") {
    if (names[4].size() != 2 || names[4][0] < '1' || names[4][0] > '5' || names[4][1] != 'd') {
      return std::nullopt;
    }
    opcode.dimensions = names[4][0] - '0';
    next = 5;
  }
  Names rest(names.begin() + static_cast<std::ptrdiff_t>(next), names.end());
  if (rest.size() > 2 && rest[2] == "tile") rest.erase(rest.begin() + 2);
  if (rest.size() == 4 && rest[0] == "shared::cluster" && rest[3] == "multicast::cluster") {
    opcode.multicast = true;
    rest.pop_back();
  }
  if (rest.size() != 3) return std::nullopt;
  if (FindPtxSpace(rest[0]) == PtxSpace::kShared && rest[1] == "global" &&
      rest[2] == "mbarrier::complete_tx::bytes") {
    return opcode;
  }
  opcode.kind = PtxKind::kBulkStore;
  const bool stores = !opcode.multicast && rest[0] == "global" && rest[1] == "shared::cta" &&
                      rest[2] == "bulk_group";
  return stores ? std::optional<PtxOpcode>(opcode) : std::nullopt;
}

// Operations on registers: name[.lo].type, and setp.comparison.type.
std::optional<PtxOpcode> Scalar(const Names& names) {
  const auto type = FindPtxType(names.back());
  if (!type) return std::nullopt;
  const std::string name = absl::StrJoin(names.begin(), names.end() - 1, ".");
  const bool integer = type->letter != 'f' && type->letter != 'p';
  const struct {
    const char* name;
    PtxKind kind;
    char operation;
  } operations[] = {
      {"mov", PtxKind::kMove, 0},
      {"selp", PtxKind::kSelect, 0},
      {"setp.eq", PtxKind::kSetPredicate, '='},
      {"setp.ne", PtxKind::kSetPredicate, '!'},
      {"setp.lt", PtxKind::kSetPredicate, '<'},
      {"setp.le", PtxKind::kSetPredicate, '{'},
      {"setp.gt", PtxKind::kSetPredicate, '>'},
      {"setp.ge", PtxKind::kSetPredicate, '}'},
      {"add", PtxKind::kArithmetic, '+'},
      {"sub", PtxKind::kArithmetic, '-'},
      {"mul.lo", PtxKind::kArithmetic, '*'},
      {"mad.lo", PtxKind::kArithmetic, 'm'},
      {"and", PtxKind::kArithmetic, '&'},
      {"or", PtxKind::kArithmetic, '|'},
      {"xor", PtxKind::kArithmetic, '^'},
      {"shl", PtxKind::kArithmetic, 'l'},
      {"shr", PtxKind::kArithmetic, 'r'},
  };
  for (const auto& entry : operations) {
    if (name != entry.name) continue;
    if (entry.operation != 0 && !integer) return std::nullopt;
    PtxOpcode opcode = {entry.kind, *type};
    opcode.operation = entry.operation;
    return opcode;
  }
  return std::nullopt;
}

// st.async and red.async: as without .async, of another block's shared memory, whose mbarrier the
// bytes count for.
std::optional<PtxOpcode> FindOpcode(const Names& names);
std::optional<PtxOpcode> AsyncAccess(const Names& names) {
  constexpr absl::string_view kCompletes = "mbarrier::complete_tx::bytes";
  Names rest = {names[0]};
  rest.insert(rest.end(), names.begin() + 2, names.end());
  const auto completes = std::find(rest.begin(), rest.end(), kCompletes);
  if (completes == rest.end() || *(completes - 1) != "shared::cluster") return std::nullopt;
  rest.erase(completes);
  auto opcode = FindOpcode(rest);
  if (opcode) opcode->completes = true;
  return opcode;
}

// Takes the parts of a name, without those that are hints.
std::optional<PtxOpcode> FindOpcode(const Names& names) {
  if (names.empty()) return std::nullopt;
  if (const auto opcode = Whole(absl::StrJoin(names, "."))) return opcode;
  if (const auto opcode = FindBarrierOpcode(names)) return opcode;
  if (const auto opcode = FindAtomicOpcode(names)) return opcode;
  if (names.size() < 2) return std::nullopt;
  if (names[1] == "async" && (names[0] == "st" || names[0] == "red")) return AsyncAccess(names);
  if (names[0] == "ld") return MemoryAccess(PtxKind::kLoad, names);
  if (names[0] == "st") return MemoryAccess(PtxKind::kStore, names);
  if (names[0] == "ldmatrix") return Matrices(PtxKind::kLoadMatrices, names);
  if (names[0] == "stmatrix") return Matrices(PtxKind::kStoreMatrices, names);
  if (names[0] == "mma") return Multiply(names);
  if (names.size() > 3 && names[0] == "cp" && names[1] == "async" && names[2] == "bulk") {
    return BulkCopy(names);
  }
  return Scalar(names);
}

}  // namespace

std::optional<PtxType> FindPtxType(absl::string_view name) {
  PtxType type;
  if (name == "pred") return PtxType{'p', 1};
  if (name.empty() || !absl::SimpleAtoi(name.substr(1), &type.bits)) return std::nullopt;
  type.letter = name[0];
  const bool known_letter = absl::string_view("busf").find(name[0]) != absl::string_view::npos;
  const bool known_size = type.bits == 8 || type.bits == 16 || type.bits == 32 || type.bits == 64;
  if (!known_letter || !known_size) return std::nullopt;
  return type;
}

std::optional<PtxSpace> FindPtxSpace(absl::string_view name) {
  if (name == "global") return PtxSpace::kGlobal;
  if (name == "shared" || name == "shared::cta" || name == "shared::cluster") {
    return PtxSpace::kShared;
  }
  return std::nullopt;
}

std::optional<PtxOpcode> FindPtxOpcode(absl::string_view name) {
  if (const auto form = FindWgmmaForm(name)) {
    PtxOpcode opcode = {PtxKind::kWgmma};
    opcode.form = *form;
    return opcode;
  }
  Names names;
  bool has_policy = false;
  for (const absl::string_view part : absl::StrSplit(name, '.')) {
    has_policy = has_policy || part == "L2::cache_hint";
    if (!IsHint(part)) names.push_back(part);
  }
  auto opcode = FindOpcode(names);
  if (opcode) opcode->has_policy = has_policy;
  return opcode;
}

}  // namespace stridewise::executor
