#include "common/executor/run/unrolled_loops.h"

#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/counted_loop.h"
#include "common/executor/run/ir_text.h"
#include "common/executor/run/loop_copies.h"
#include "common/executor/run/math_names.h"

namespace stridewise::executor {
namespace {

// Bodies of 49 PTX instructions are unrolled, of 50 not: chains of fma, of shifts, and sums of
// loads of growing length, compiled by nvcc 13.0 for sm_90a.
constexpr int kMaxInstructions = 49;

// Returns the names of the metadata of loops with "#pragma unroll 1" and the like:
// "!7 = distinct !{!7, !8, !9}" of "!9 = !{!"...disable"}".
std::set<std::string> LoopsLeftAlone(const std::vector<std::string>& lines) {
  std::set<std::string> marks, left_alone;
  for (const std::string& line : lines) {
    if (absl::EndsWith(line, " = !{!\"llvm.loop.unroll.disable\"}") ||
        absl::EndsWith(line, " = !{!\"llvm.loop.unroll.count\", i32 1}")) {
      marks.insert(line.substr(0, line.find(' ')));
    }
  }
  for (const std::string& line : lines) {
    if (!absl::StartsWith(line, "!") || !absl::StrContains(line, " = distinct !{!")) continue;
    const size_t open = line.find('{');
    const std::string of = line.substr(0, line.find(' '));
    for (const absl::string_view part :
         absl::StrSplit(line.substr(open + 1, line.size() - open - 2), ", ")) {
      if (marks.count(std::string(part)) > 0) left_alone.insert(of);
    }
  }
  return left_alone;
}

// Whether the source, or LLVM, says that the loop is not to be unrolled. LLVM says so of what it
// has unrolled and of its remainder, too: nvcc of the remainder only.
bool IsLeftAlone(const std::vector<std::string>& lines, const CountedLoop& loop,
                 const std::set<std::string>& left_alone) {
  const std::string& branch = lines[loop.end];
  const size_t metadata = branch.find("!llvm.loop !");
  if (metadata == std::string::npos || left_alone.count(branch.substr(metadata + 11)) == 0) {
    return false;
  }
  const std::string& last = lines[loop.end - 1];
  return !(absl::StartsWith(last, "  %niter") && absl::StrContains(last, ".ncmp"));
}

// Instructions that ptxas neither moves nor copies.
bool Stays(absl::string_view line, absl::string_view opcode) {
  if (opcode == "call" || opcode == "tail") {
    return !absl::StrContains(line, "@llvm.") && !NamesMath(line);
  }
  return absl::StartsWith(line, "  %\"") || absl::StrContains(line, " volatile ") ||
         absl::StrContains(line, " atomic ") || opcode == "cmpxchg" || opcode == "atomicrmw" ||
         opcode == "fence" || opcode == "invoke" || opcode == "alloca";
}

// How many instructions of PTX an operation is. An index is extended, multiplied and added by two.
int InstructionsOf(absl::string_view opcode) {
  if (opcode == "getelementptr") return 2;
  return opcode == "zext" || opcode == "sext" || opcode == "bitcast" ||
                 opcode == "extractelement" || opcode == "insertelement"
             ? 0
             : 1;
}

// Whether the body is small enough, and its loads and stores may change their order.
bool BodyMayBeUnrolled(const std::vector<std::string>& lines, const CountedLoop& loop,
                       const std::set<std::string>& shared) {
  int instructions = 1, loads = 0, stores = 0, shared_loads = 0, shared_stores = 0, products = 0,
      sums = 0;
  for (size_t i = loop.begin; i < loop.end; ++i) {
    const std::string& line = lines[i];
    const absl::string_view operation = Operation(line);
    const absl::string_view opcode = operation.substr(0, operation.find(' '));
    if (absl::StrContains(line, "@llvm.dbg.")) continue;
    if (Stays(line, opcode)) return false;
    if (opcode == "phi") continue;
    if (opcode == "load" || opcode == "store") {
      const bool is_shared = PointsTo(line, lines, shared);
      (opcode == "load" ? loads : stores) += 1;
      (opcode == "load" ? shared_loads : shared_stores) += is_shared;
    }
    products += opcode == "fmul";
    sums += opcode == "fadd" || opcode == "fsub";
    instructions += InstructionsOf(opcode);
  }
  instructions -= products < sums ? products : sums;
  const bool may_move = stores == 0 || loads == 0 || (shared_stores == stores && shared_loads == 0);
  return instructions <= kMaxInstructions && loads + stores > 0 && may_move;
}

std::vector<std::string> Unrolled(std::vector<std::string> lines,
                                  const std::set<std::string>& shared,
                                  const std::set<std::string>& left_alone, int* number) {
  for (size_t i = 0; i < lines.size(); ++i) {
    CountedLoop loop;
    loop.label = LabelOf(lines[i]);
    if (loop.label.empty()) continue;
    loop.begin = i + 1;
    loop.end = i + 1;
    while (loop.end < lines.size() && !absl::StartsWith(lines[loop.end], "  br ") &&
           LabelOf(lines[loop.end]).empty()) {
      ++loop.end;
    }
    if (loop.end < lines.size() && ParseCountedLoop(lines, &loop) &&
        !IsLeftAlone(lines, loop, left_alone) && BodyMayBeUnrolled(lines, loop, shared)) {
      i = UnrollByFour(loop, (*number)++, &lines);
    }
  }
  return lines;
}

}  // namespace

std::vector<std::string> WithUnrolledLoops(std::vector<std::string> lines) {
  const std::set<std::string> shared = SharedVariables(lines);
  const std::set<std::string> left_alone = LoopsLeftAlone(lines);
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    return Unrolled(std::move(function), shared, left_alone, &number);
  });
}

}  // namespace stridewise::executor
