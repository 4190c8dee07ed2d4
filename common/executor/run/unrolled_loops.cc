#include "common/executor/run/unrolled_loops.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"
#include "common/executor/run/math_names.h"

namespace stridewise::executor {
namespace {

// Bodies of 49 PTX instructions are unrolled, of 50 not: chains of fma, of shifts, and sums of
// loads of growing length, compiled by nvcc 13.0 for sm_90a.
constexpr int kMaxInstructions = 49;

// The type of what the line defines, or "" where it is none of those that leave a loop.
std::string ResultType(absl::string_view line) {
  const absl::string_view operation = Operation(line);
  const absl::string_view opcode = operation.substr(0, operation.find(' '));
  if (opcode == "icmp" || opcode == "fcmp") return "i1";
  const size_t to = operation.find(" to ");
  if (to != absl::string_view::npos) return TypeOf(operation.substr(to + 4));
  if (opcode == "getelementptr" || opcode == "extractelement" || opcode == "insertelement" ||
      opcode == "shufflevector" || opcode == "select" || opcode == "extractvalue" ||
      opcode == "freeze") {
    return "";
  }
  return TypeOf(BehindFlags(operation));
}

struct Phi {
  std::string name, type, first, next;
};

struct Loop {
  size_t begin = 0, end = 0;  // The lines behind the label, up to the branch.
  std::string label, exit, before;
  std::vector<Phi> phis;
  std::string predicate, type, counter, next, bound;
  int64_t step = 0;
};

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
bool ParsePhi(absl::string_view line, const std::string& label, Loop* loop) {
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

// One function's lines [begin, end) and what its pointers point into.
class Function {
 public:
  Function(std::vector<std::string> lines, const std::set<std::string>& shared,
           const std::set<std::string>& left_alone, int* number)
      : lines_(std::move(lines)), shared_(shared), left_alone_(left_alone), number_(number) {}

  std::vector<std::string> Unrolled() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string label = LabelOf(lines_[i]);
      if (label.empty()) continue;
      size_t end = i + 1;
      while (end < lines_.size() && !absl::StartsWith(lines_[end], "  br ") &&
             LabelOf(lines_[end]).empty()) {
        ++end;
      }
      Loop loop;
      loop.begin = i + 1;
      loop.end = end;
      loop.label = label;
      if (end < lines_.size() && Parse(&loop)) i = Unroll(loop);
    }
    return std::move(lines_);
  }

 private:
  bool Parse(Loop* loop) const {
    const std::string& branch = lines_[loop->end];
    if (!absl::StartsWith(branch, "  br i1 %")) return false;
    const std::string condition(NameAt(branch, 8));
    const size_t first = branch.find("label %"), second = branch.find("label %", first + 1);
    if (second == std::string::npos) return false;
    const std::string yes(NameAt(branch, first + 6)), no(NameAt(branch, second + 6));
    if ((yes == loop->label) == (no == loop->label)) return false;
    loop->exit = yes == loop->label ? no : yes;
    // LLVM says so of what it has unrolled and of its remainder, too: nvcc of the remainder only.
    const size_t metadata = branch.find("!llvm.loop !");
    const bool left_alone =
        metadata != std::string::npos && left_alone_.count(branch.substr(metadata + 11)) > 0;
    const std::string& last = lines_[loop->end - 1];
    const bool by_llvm = absl::StartsWith(last, "  %niter") && absl::StrContains(last, ".ncmp");
    if (left_alone && !by_llvm) return false;

    int instructions = 1, loads = 0, stores = 0, shared_loads = 0, shared_stores = 0, products = 0,
        sums = 0;
    std::string compare;
    for (size_t i = loop->begin; i < loop->end; ++i) {
      const std::string& line = lines_[i];
      const absl::string_view operation = Operation(line);
      const std::string opcode(operation.substr(0, operation.find(' ')));
      if (absl::StrContains(line, "@llvm.dbg.")) continue;
      if (absl::StartsWith(line, "  %\"") || absl::StrContains(line, " volatile ") ||
          absl::StrContains(line, " atomic ")) {
        return false;
      }
      if (opcode == "phi") {
        if (!ParsePhi(line, loop->label, loop)) return false;
        continue;
      }
      if (opcode == "load" || opcode == "store") {
        const bool is_shared = PointsTo(line, lines_, shared_);
        (opcode == "load" ? loads : stores) += 1;
        (opcode == "load" ? shared_loads : shared_stores) += is_shared;
      } else if (opcode == "call" || opcode == "tail") {
        if (!absl::StrContains(line, "@llvm.") && !NamesMath(line)) return false;
      } else if (opcode == "cmpxchg" || opcode == "atomicrmw" || opcode == "fence" ||
                 opcode == "invoke" || opcode == "alloca") {
        return false;
      }
      if (Defined(line) == condition) compare = std::string(operation);
      products += opcode == "fmul";
      sums += opcode == "fadd" || opcode == "fsub";
      // An index is extended, multiplied and added by two instructions.
      instructions += opcode == "getelementptr" ? 2
                      : opcode == "zext" || opcode == "sext" || opcode == "bitcast" ||
                              opcode == "extractelement" || opcode == "insertelement"
                          ? 0
                          : 1;
    }
    instructions -= products < sums ? products : sums;
    const bool may_move =
        stores == 0 || loads == 0 || (shared_stores == stores && shared_loads == 0);
    if (instructions > kMaxInstructions || loads + stores == 0 || !may_move) return false;
    return ParseCounter(compare, yes == loop->label, loop);
  }

  // "icmp ult i32 %17, %2, !dbg !7"
  bool ParseCounter(absl::string_view compare, bool goes_on_if_true, Loop* loop) const {
    if (!absl::StartsWith(compare, "icmp ")) return false;
    const std::vector<std::string> words =
        absl::StrSplit(compare.substr(0, compare.find(", !")), ' ');
    if (words.size() != 5) return false;
    loop->predicate = goes_on_if_true ? words[1] : std::string(Inverse(words[1]));
    loop->type = words[2];
    std::string left = words[3].substr(0, words[3].size() - 1), right = words[4];
    std::set<std::string> inside;
    for (size_t i = loop->begin; i < loop->end; ++i) inside.insert(Defined(lines_[i]));
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
      if (Defined(lines_[i]) != left) continue;
      const absl::string_view operation = Operation(lines_[i]);
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

  // Whether `count` iterations are left where the counter is `value`; the result is `name`.
  static void AppendCondition(const Loop& loop, const std::string& name, const std::string& value,
                              int count, std::vector<std::string>* to) {
    const bool up = loop.step > 0;
    const bool or_equal = loop.predicate[2] == 'e';
    to->push_back(absl::StrCat("  ", name, ".c = icmp ", loop.predicate, " ", loop.type, " ", value,
                               ", ", loop.bound));
    to->push_back(absl::StrCat("  ", name, ".r = sub ", loop.type, " ", up ? loop.bound : value,
                               ", ", up ? value : loop.bound));
    to->push_back(absl::StrCat("  ", name, ".k = icmp ", or_equal ? "uge " : "ugt ", loop.type, " ",
                               name, ".r, ", (count - 1) * std::llabs(loop.step)));
    to->push_back(absl::StrCat("  ", name, " = and i1 ", name, ".c, ", name, ".k"));
  }

  // Appends `count` iterations; `values` has what the block's names stand for, and afterwards what
  // the last iteration's stand for; the result has the next values of the phis.
  Names AppendCopies(const Loop& loop, const std::string& prefix, int count, Names* values,
                     std::vector<std::string>* to) const {
    Names next;
    for (int copy = 0; copy < count; ++copy) {
      if (copy > 0) *values = next;
      for (size_t i = loop.begin; i < loop.end; ++i) {
        const std::string& line = lines_[i];
        if (absl::StrContains(line, "@llvm.dbg.") || absl::StartsWith(Operation(line), "phi ")) {
          continue;
        }
        const std::string defined = Defined(line);
        if (!defined.empty()) {
          (*values)[defined] = absl::StrCat(prefix, copy, ".", defined.substr(1));
        }
        to->push_back(Renamed(line, *values));
      }
      next.clear();
      for (const Phi& phi : loop.phis) next[phi.name] = Renamed(phi.next, *values);
    }
    return next;
  }

  // Returns the last line of the new blocks.
  size_t Unroll(const Loop& loop) {
    // What is used behind the loop.
    std::map<std::string, std::string> outside;  // With its type.
    for (size_t i = loop.begin; i < loop.end; ++i) {
      const std::string name = Defined(lines_[i]);
      if (name.empty()) continue;
      for (size_t j = 0; j < lines_.size() && outside.count(name) == 0; ++j) {
        if ((j < loop.begin || j > loop.end) && Uses(lines_[j], name)) {
          outside[name] = ResultType(lines_[i]);
          if (outside[name].empty()) return loop.end;
        }
      }
    }
    int branches = 0;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (i == loop.end || !absl::StrContains(lines_[i], "label %")) continue;
      if (!Uses(lines_[i], loop.label)) continue;
      if (!absl::StartsWith(lines_[i], "  br ")) return loop.end;
      ++branches;
    }
    if (branches != 1) return loop.end;

    const std::string p = absl::StrCat("%simt.loop", (*number_)++, ".");
    const auto label = [&](const std::string& name) {
      return absl::StrCat(p.substr(1), name, ":");
    };
    std::vector<std::string> made;
    Names first, many, middle, rest;
    for (const Phi& phi : loop.phis) {
      first[phi.name] = phi.first;
      many[phi.name] = absl::StrCat(p, "4.", phi.name.substr(1));
      middle[phi.name] = absl::StrCat(p, "m.", phi.name.substr(1));
      rest[phi.name] = absl::StrCat(p, "t.", phi.name.substr(1));
    }
    made.push_back(label("e"));
    AppendCondition(loop, p + "ec", first[loop.counter], 4, &made);
    made.push_back(absl::StrCat("  br i1 ", p, "ec, label ", p, "4, label ", p, "m"));

    std::vector<std::string> body;
    Names last4 = many;
    Names next4 = AppendCopies(loop, p + "4.", 4, &last4, &body);
    made.push_back("");
    made.push_back(label("4"));
    for (const Phi& phi : loop.phis) {
      made.push_back(absl::StrCat("  ", many[phi.name], " = phi ", phi.type, " [ ", phi.first, ", ",
                                  p, "e ], [ ", next4[phi.name], ", ", p, "4 ]"));
    }
    made.insert(made.end(), body.begin(), body.end());
    AppendCondition(loop, p + "4c", next4[loop.counter], 4, &made);
    made.push_back(absl::StrCat("  br i1 ", p, "4c, label ", p, "4, label ", p, "m"));

    body.clear();
    Names last2 = middle;
    Names next2 = AppendCopies(loop, p + "2.", 2, &last2, &body);
    made.push_back("");
    made.push_back(label("m"));
    const auto merge = [&](const std::string& name, const std::string& type, const std::string& a,
                           const std::string& from_a, const std::string& b,
                           const std::string& from_b) {
      made.push_back(absl::StrCat("  ", name, " = phi ", type, " [ ", a, ", ", from_a, " ], [ ", b,
                                  ", ", from_b, " ]"));
    };
    for (const Phi& phi : loop.phis) {
      merge(middle[phi.name], phi.type, phi.first, p + "e", next4[phi.name], p + "4");
    }
    for (const auto& value : outside) {
      merge(absl::StrCat(p, "mo.", value.first.substr(1)), value.second, "undef", p + "e",
            last4[value.first], p + "4");
    }
    merge(p + "mf", "i1", "true", p + "e", "false", p + "4");
    AppendCondition(loop, p + "mc", middle[loop.counter], 2, &made);
    made.push_back(absl::StrCat("  br i1 ", p, "mc, label ", p, "2, label ", p, "t"));
    made.push_back("");
    made.push_back(label("2"));
    made.insert(made.end(), body.begin(), body.end());
    made.push_back(absl::StrCat("  br label ", p, "t"));

    // One more; a loop that was entered without a look at its condition has at least one.
    made.push_back("");
    made.push_back(label("t"));
    for (const Phi& phi : loop.phis) {
      merge(rest[phi.name], phi.type, middle[phi.name], p + "m", next2[phi.name], p + "2");
    }
    for (const auto& value : outside) {
      merge(absl::StrCat(p, "to.", value.first.substr(1)), value.second,
            absl::StrCat(p, "mo.", value.first.substr(1)), p + "m", last2[value.first], p + "2");
    }
    merge(p + "tf", "i1", p + "mf", p + "m", "false", p + "2");
    made.push_back(absl::StrCat("  ", p, "tc = icmp ", loop.predicate, " ", loop.type, " ",
                                rest[loop.counter], ", ", loop.bound));
    made.push_back(absl::StrCat("  ", p, "ta = or i1 ", p, "tf, ", p, "tc"));
    made.push_back(absl::StrCat("  br i1 ", p, "ta, label ", loop.label, ", label ", p, "x"));
    made.push_back("");
    made.push_back(lines_[loop.begin - 1].substr(0, lines_[loop.begin - 1].find(':') + 1));
    for (const Phi& phi : loop.phis) {
      merge(phi.name, phi.type, rest[phi.name], p + "t", phi.next, loop.label);
    }
    for (size_t i = loop.begin; i < loop.end; ++i) {
      if (!absl::StartsWith(Operation(lines_[i]), "phi ")) made.push_back(lines_[i]);
    }
    made.push_back(Renamed(lines_[loop.end], {{loop.exit, p + "x"}}));
    made.push_back("");
    made.push_back(label("x"));
    Names behind;
    for (const auto& value : outside) {
      behind[value.first] = absl::StrCat(p, "xo.", value.first.substr(1));
      merge(behind[value.first], value.second, absl::StrCat(p, "to.", value.first.substr(1)),
            p + "t", value.first, loop.label);
    }
    made.push_back(absl::StrCat("  br label ", loop.exit));

    for (size_t i = 0; i < lines_.size(); ++i) {
      if (i + 1 >= loop.begin && i <= loop.end) continue;
      std::string& line = lines_[i];
      if (absl::StartsWith(line, "  br ") && Uses(line, loop.label)) {
        line = Renamed(line, {{loop.label, p + "e"}});
      } else if (absl::StartsWith(Operation(line), "phi ") && Uses(line, loop.label)) {
        line = Renamed(line, {{loop.label, p + "x"}});
      }
      line = Renamed(line, behind);
    }
    lines_.erase(lines_.begin() + loop.begin - 1, lines_.begin() + loop.end + 1);
    lines_.insert(lines_.begin() + loop.begin - 1, made.begin(), made.end());
    return loop.begin - 1 + made.size() - 1;
  }

  std::vector<std::string> lines_;
  const std::set<std::string>& shared_;
  const std::set<std::string>& left_alone_;
  int* number_;
};

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

}  // namespace

std::vector<std::string> WithUnrolledLoops(std::vector<std::string> lines) {
  const std::set<std::string> shared = SharedVariables(lines);
  const std::set<std::string> left_alone = LoopsLeftAlone(lines);
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    return Function(std::move(function), shared, left_alone, &number).Unrolled();
  });
}

}  // namespace stridewise::executor
