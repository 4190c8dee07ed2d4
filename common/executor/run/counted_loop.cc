#include "common/executor/run/counted_loop.h"

#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

absl::string_view Inverse(absl::string_view p) {
  const std::map<absl::string_view, absl::string_view> inverse = {
      {"eq", "ne"},   {"ne", "eq"},   {"ult", "uge"}, {"uge", "ult"}, {"ugt", "ule"},
      {"ule", "ugt"}, {"slt", "sge"}, {"sge", "slt"}, {"sgt", "sle"}, {"sle", "sgt"}};
  const auto found = inverse.find(p);
  return found == inverse.end() ? "" : found->second;
}

std::string Swapped(std::string p) {
  if (p == "eq" || p == "ne") return p;
  p[1] = p[1] == 'l' ? 'g' : 'l';
  return p;
}

// "[ %a, %b ], [ 0, %c ]": by block.
bool ParsePhi(absl::string_view line, const std::string& label, CountedLoop* loop) {
  Phi phi;
  phi.name = Defined(line);
  phi.type = TypeOf(Operation(line).substr(4));
  const size_t open = line.find(" [ ");
  const size_t comma = line.find(" ], [ ", open);
  const size_t close = line.find(" ]", comma + 1);
  if (open == absl::string_view::npos || comma == absl::string_view::npos ||
      close == absl::string_view::npos || absl::StartsWith(line.substr(close), " ], [")) {
    return false;
  }
  for (const absl::string_view edge :
       {line.substr(open + 3, comma - open - 3), line.substr(comma + 6, close - comma - 6)}) {
    const size_t behind = edge.rfind(", %");
    if (behind == absl::string_view::npos) return false;
    const std::string value(edge.substr(0, behind)), from(edge.substr(behind + 2));
    if (from == label) {
      phi.next = value;
    } else {
      if (!loop->before.empty() && loop->before != from) return false;
      loop->before = from;
      phi.first = value;
    }
  }
  if (phi.next.empty() || phi.first.empty()) return false;
  loop->phis.push_back(phi);
  return true;
}

// "icmp ult i32 %17, %2, !dbg !7"
bool ParseCounter(const std::vector<std::string>& lines, absl::string_view compare,
                  bool goes_on_if_true, CountedLoop* loop) {
  if (!absl::StartsWith(compare, "icmp ")) return false;
  const std::vector<std::string> words =
      absl::StrSplit(compare.substr(0, compare.find(", !")), ' ');
  if (words.size() != 5) return false;
  loop->predicate = goes_on_if_true ? words[1] : std::string(Inverse(words[1]));
  loop->type = words[2];
  std::string left = words[3].substr(0, words[3].size() - 1), right = words[4];
  std::set<std::string> inside;
  for (size_t i = loop->begin; i < loop->end; ++i) inside.insert(Defined(lines[i]));
  if (inside.count(left) == 0) {
    std::swap(left, right);
    loop->predicate = Swapped(loop->predicate);
  }
  if (inside.count(right) > 0 || loop->predicate.empty() || loop->predicate == "eq") return false;
  loop->next = left;
  loop->bound = right;
  for (const Phi& phi : loop->phis) {
    if (phi.next == left) loop->counter = phi.name;
  }
  if (loop->counter.empty()) return false;
  for (size_t i = loop->begin; i < loop->end; ++i) {
    if (Defined(lines[i]) != left) continue;
    const absl::string_view operation = Operation(lines[i]);
    if (!absl::StartsWith(operation, "add ")) return false;
    const std::vector<std::string> operands =
        absl::StrSplit(BehindFlags(operation.substr(0, operation.find(", !"))), ' ');
    if (operands.size() != 3 || operands[1] != loop->counter + "," ||
        !absl::SimpleAtoi(operands[2], &loop->step)) {
      return false;
    }
  }
  const char way = loop->predicate[1];
  return loop->step != 0 && std::llabs(loop->step) < (int64_t{1} << 24) &&
         (loop->predicate == "ne" || (way == 'l') == (loop->step > 0));
}

}  // namespace

bool ParseCountedLoop(const std::vector<std::string>& lines, CountedLoop* loop) {
  const std::string& branch = lines[loop->end];
  if (!absl::StartsWith(branch, "  br i1 %")) return false;
  const std::string condition(NameAt(branch, 8));
  const size_t first = branch.find("label %"), second = branch.find("label %", first + 1);
  if (second == std::string::npos) return false;
  const std::string yes(NameAt(branch, first + 6)), no(NameAt(branch, second + 6));
  if ((yes == loop->label) == (no == loop->label)) return false;
  loop->exit = yes == loop->label ? no : yes;
  std::string compare;
  for (size_t i = loop->begin; i < loop->end; ++i) {
    const absl::string_view operation = Operation(lines[i]);
    if (absl::StartsWith(operation, "phi ") && !ParsePhi(lines[i], loop->label, loop)) return false;
    if (Defined(lines[i]) == condition) compare = std::string(operation);
  }
  return ParseCounter(lines, compare, yes == loop->label, loop);
}

}  // namespace stridewise::executor
