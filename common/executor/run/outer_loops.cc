#include "common/executor/run/outer_loops.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

constexpr char kLoop[] = "!llvm.loop ";
constexpr char kPredecessors[] = "; preds = ";
// Behind all numbers that LLVM gives.
constexpr char kMark[] = "!900000100";

// nvcc's limit of a loop that is unrolled completely, in instructions other than phis. A loop of an
// unknown number of iterations in it has been unrolled by 4 by then, with a remainder and branches:
// nvcc 13.0 unrolls nests of sums of 8, 9 and 12 instructions up to 6, 5 and 4 times and of 24
// fewer than 3 times. Loops without a counter are not unrolled, and count once.
constexpr int64_t kMaxInstructions = 400;
constexpr int64_t kCopies = 7;

struct Loop {
  std::string header, latch, branch;
  std::string metadata;  // Its name, "!7".
  bool has_counter = false;
  int64_t iterations = 0;  // Where its counter is compared with a constant.
  std::set<std::string> body;
};

// The blocks of a function, and the loops whose branch has metadata.
struct Blocks {
  std::map<std::string, int64_t> instructions;
  std::map<std::string, std::vector<std::string>> predecessors;
  std::vector<Loop> loops;
};

// What the line that defines a name has behind "= ".
std::string DefinitionOf(absl::string_view name, const std::vector<std::string>& function) {
  const std::string define = absl::StrCat("  ", name, " = ");
  for (const std::string& line : function) {
    if (!absl::StartsWith(line, define)) continue;
    const absl::string_view operation = Operation(line);
    return std::string(operation.substr(0, operation.find(", !")));
  }
  return "";
}

// Looks at "icmp eq i32 %next, 15" of "%next = add i32 %i, 1".
void SetIterations(absl::string_view branch, const std::vector<std::string>& function, Loop* loop) {
  if (!absl::StartsWith(branch, "  br i1 %")) return;
  const std::string compare = DefinitionOf(NameAt(branch, 8), function);
  const size_t value = compare.find('%');
  if (!absl::StartsWith(compare, "icmp ") || value == std::string::npos) return;
  const std::string next = DefinitionOf(NameAt(compare, value), function);
  const size_t counter = next.find('%');
  if (!absl::StartsWith(next, "add ") || counter == std::string::npos) return;
  loop->has_counter = true;
  int64_t step = 0, bound = 0, first = 0;
  if (!absl::SimpleAtoi(next.substr(next.rfind(' ') + 1), &step) || step == 0 ||
      !absl::SimpleAtoi(compare.substr(compare.rfind(' ') + 1), &bound)) {
    return;
  }
  const std::string phi = DefinitionOf(NameAt(next, counter), function);
  for (size_t at = phi.find("[ "); at != std::string::npos; at = phi.find("[ ", at + 1)) {
    if (absl::SimpleAtoi(phi.substr(at + 2, phi.find(',', at) - at - 2), &first)) break;
  }
  loop->iterations = (bound - first) / step;
}

Blocks BlocksOf(const std::vector<std::string>& function) {
  Blocks blocks;
  std::string block;
  for (const std::string& line : function) {
    const std::string label = LabelOf(line);
    if (!label.empty()) {
      block = label;
      const size_t list = line.find(kPredecessors);
      if (list == std::string::npos) continue;
      blocks.predecessors[block] =
          absl::StrSplit(line.substr(list + sizeof(kPredecessors) - 1), ", ");
      continue;
    }
    if (!line.empty() && line != "}" && !absl::StrContains(line, "@llvm.dbg.") &&
        !absl::StrContains(line, " = phi ")) {
      ++blocks.instructions[block];
    }
    const size_t metadata = line.find(kLoop);
    if (metadata == std::string::npos || !absl::StartsWith(line, "  br ")) continue;
    Loop loop;
    loop.latch = block;
    loop.branch = line;
    loop.metadata = line.substr(metadata + sizeof(kLoop) - 1);
    SetIterations(line, function, &loop);
    blocks.loops.push_back(std::move(loop));
  }
  return blocks;
}

// The header, and the blocks from which the latch is reached without it; empty where one of these
// is the function's first block.
std::set<std::string> BodyOf(const std::string& header, const std::string& latch,
                             const Blocks& blocks) {
  std::set<std::string> body = {header};
  std::vector<std::string> open = {latch};
  while (!open.empty()) {
    const std::string block = open.back();
    open.pop_back();
    if (!body.insert(block).second) continue;
    const auto found = blocks.predecessors.find(block);
    if (found == blocks.predecessors.end()) return {};
    open.insert(open.end(), found->second.begin(), found->second.end());
  }
  return body;
}

// Of the targets of the latch's branch the header is the one that comes before it on all ways, and
// the innermost of two such.
void SetHeader(const Blocks& blocks, Loop* loop) {
  const std::string& branch = loop->branch;
  for (size_t i = branch.find("label %"); i != std::string::npos;
       i = branch.find("label %", i + 1)) {
    const std::string target(NameAt(branch, i + 6));
    std::set<std::string> body = BodyOf(target, loop->latch, blocks);
    if (body.empty() || (!loop->body.empty() && body.size() > loop->body.size())) continue;
    loop->header = target;
    loop->body = std::move(body);
  }
}

// Whether nvcc leaves a loop alone for the loops in it.
bool StaysALoop(const Loop& outer, const Blocks& blocks) {
  std::map<std::string, int64_t> copies;
  bool around_unknown = false;
  for (const Loop& inner : blocks.loops) {
    if (inner.header == outer.header || outer.body.count(inner.latch) == 0 ||
        outer.body.count(inner.header) == 0 || inner.iterations > 0) {
      continue;
    }
    if (!inner.has_counter) continue;
    around_unknown = true;
    for (const std::string& block : inner.body) copies[block] = kCopies;
  }
  // LLVM may count what has no counter of this kind, such as strides that double.
  if (!around_unknown || !outer.has_counter) return false;
  if (outer.iterations <= 0) return true;
  int64_t instructions = 0;
  for (const std::string& block : outer.body) {
    const auto found = blocks.instructions.find(block);
    if (found == blocks.instructions.end()) continue;
    const auto repeated = copies.find(block);
    instructions += found->second * (repeated == copies.end() ? 1 : repeated->second);
  }
  return instructions * outer.iterations > kMaxInstructions;
}

void FindOuterLoops(const std::vector<std::string>& function, std::set<std::string>* metadata) {
  Blocks blocks = BlocksOf(function);
  for (Loop& loop : blocks.loops) SetHeader(blocks, &loop);
  for (const Loop& loop : blocks.loops) {
    if (StaysALoop(loop, blocks)) metadata->insert(loop.metadata);
  }
}

// Whether the loop's metadata, "!7 = distinct !{!7, !8}", names something of unrolling.
bool SaysHowToUnroll(absl::string_view loop, const std::map<std::string, std::string>& metadata) {
  for (const absl::string_view part :
       absl::StrSplit(loop.substr(loop.find('{') + 1, loop.size() - loop.find('{') - 2), ", ")) {
    const auto found = metadata.find(std::string(part));
    if (found != metadata.end() && absl::StrContains(found->second, "\"llvm.loop.unroll")) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> WithOuterLoopsLeftAlone(std::vector<std::string> lines) {
  std::set<std::string> outer;
  lines = WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    FindOuterLoops(function, &outer);
    return function;
  });
  std::map<std::string, std::string> metadata;
  for (const std::string& line : lines) {
    if (absl::StartsWith(line, "!")) metadata[line.substr(0, line.find(' '))] = line;
  }
  bool marked = false;
  for (std::string& line : lines) {
    if (!absl::StartsWith(line, "!") || outer.count(line.substr(0, line.find(' '))) == 0) continue;
    if (!absl::StrContains(line, " = distinct !{") || SaysHowToUnroll(line, metadata)) continue;
    line.insert(line.size() - 1, absl::StrCat(", ", kMark));
    marked = true;
  }
  if (marked) lines.push_back(absl::StrCat(kMark, " = !{!\"llvm.loop.unroll.disable\"}"));
  return lines;
}

}  // namespace stridewise::executor
