#include "common/executor/run/loop_copies.h"

#include <cstdlib>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

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

class Copies {
 public:
  Copies(const CountedLoop& loop, int number, const std::vector<std::string>& lines)
      : loop_(loop), lines_(lines), p_(absl::StrCat("%simt.loop", number, ".")) {}

  // Returns false where the loop must stay as it is.
  bool FindWhatIsOutside() {
    for (size_t i = loop_.begin; i < loop_.end; ++i) {
      const std::string name = Defined(lines_[i]);
      if (name.empty()) continue;
      for (size_t j = 0; j < lines_.size() && outside_.count(name) == 0; ++j) {
        if ((j < loop_.begin || j > loop_.end) && Uses(lines_[j], name)) {
          outside_[name] = ResultType(lines_[i]);
          if (outside_[name].empty()) return false;
        }
      }
    }
    int branches = 0;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (i == loop_.end || !absl::StrContains(lines_[i], "label %")) continue;
      if (!Uses(lines_[i], loop_.label)) continue;
      if (!absl::StartsWith(lines_[i], "  br ")) return false;
      ++branches;
    }
    return branches == 1;
  }

  // Block e decides whether there are four iterations, and block 4 repeats four of them; block m
  // goes on to block 2 where two are left, and block t to the loop itself where one is; block x
  // leaves for where the loop went.
  std::vector<std::string> Blocks() {
    WriteEntry();
    const Last four = WriteFour();
    const Last two = WriteTwo(four);
    WriteOne(two);
    WriteExit();
    return std::move(made_);
  }

  // Changes the function's other lines to enter and to leave by the new blocks.
  void Redirect(std::vector<std::string>* lines) const {
    for (size_t i = 0; i < lines->size(); ++i) {
      if (i + 1 >= loop_.begin && i <= loop_.end) continue;
      std::string& line = (*lines)[i];
      if (absl::StartsWith(line, "  br ") && Uses(line, loop_.label)) {
        line = Renamed(line, {{loop_.label, p_ + "e"}});
      } else if (absl::StartsWith(Operation(line), "phi ") && Uses(line, loop_.label)) {
        line = Renamed(line, {{loop_.label, p_ + "x"}});
      }
      line = Renamed(line, behind_);
    }
  }

 private:
  // What names of the block stand for in a copy's last iteration, and the next values of the phis.
  struct Last {
    Names values, next;
  };

  // A name for `name` in block `block`.
  std::string In(absl::string_view block, const std::string& name) const {
    return absl::StrCat(p_, block, ".", name.substr(1));
  }

  void Label(absl::string_view name) {
    if (!made_.empty()) made_.push_back("");
    made_.push_back(absl::StrCat(p_.substr(1), name, ":"));
  }

  void Branch(const std::string& condition, const std::string& yes, const std::string& no) {
    made_.push_back(absl::StrCat("  br i1 ", condition, ", label ", yes, ", label ", no));
  }

  void Merge(const std::string& name, const std::string& type, const std::string& a,
             const std::string& from_a, const std::string& b, const std::string& from_b) {
    made_.push_back(absl::StrCat("  ", name, " = phi ", type, " [ ", a, ", ", from_a, " ], [ ", b,
                                 ", ", from_b, " ]"));
  }

  // Whether `count` iterations are left where the counter is `value`; the result is `name`.
  void Condition(const std::string& name, const std::string& value, int count) {
    const bool up = loop_.step > 0;
    const bool or_equal = loop_.predicate[2] == 'e';
    made_.push_back(absl::StrCat("  ", name, ".c = icmp ", loop_.predicate, " ", loop_.type, " ",
                                 value, ", ", loop_.bound));
    made_.push_back(absl::StrCat("  ", name, ".r = sub ", loop_.type, " ", up ? loop_.bound : value,
                                 ", ", up ? value : loop_.bound));
    made_.push_back(absl::StrCat("  ", name, ".k = icmp ", or_equal ? "uge " : "ugt ", loop_.type,
                                 " ", name, ".r, ", (count - 1) * std::llabs(loop_.step)));
    made_.push_back(absl::StrCat("  ", name, " = and i1 ", name, ".c, ", name, ".k"));
  }

  // Appends `count` iterations to `to`, of which the first begins with `last->values`.
  void Append(const std::string& prefix, int count, Last* last,
              std::vector<std::string>* to) const {
    for (int copy = 0; copy < count; ++copy) {
      if (copy > 0) last->values = last->next;
      for (size_t i = loop_.begin; i < loop_.end; ++i) {
        const std::string& line = lines_[i];
        if (absl::StrContains(line, "@llvm.dbg.") || absl::StartsWith(Operation(line), "phi ")) {
          continue;
        }
        const std::string defined = Defined(line);
        if (!defined.empty()) {
          last->values[defined] = absl::StrCat(prefix, copy, ".", defined.substr(1));
        }
        to->push_back(Renamed(line, last->values));
      }
      last->next.clear();
      for (const Phi& phi : loop_.phis) last->next[phi.name] = Renamed(phi.next, last->values);
    }
  }

  void WriteEntry() {
    Label("e");
    std::string first;
    for (const Phi& phi : loop_.phis) {
      if (phi.name == loop_.counter) first = phi.first;
    }
    Condition(p_ + "ec", first, 4);
    Branch(p_ + "ec", p_ + "4", p_ + "m");
  }

  Last WriteFour() {
    Last last;
    for (const Phi& phi : loop_.phis) last.values[phi.name] = In("4", phi.name);
    std::vector<std::string> body;
    Append(p_ + "4.", 4, &last, &body);
    Label("4");
    for (const Phi& phi : loop_.phis) {
      Merge(In("4", phi.name), phi.type, phi.first, p_ + "e", last.next[phi.name], p_ + "4");
    }
    made_.insert(made_.end(), body.begin(), body.end());
    Condition(p_ + "4c", last.next[loop_.counter], 4);
    Branch(p_ + "4c", p_ + "4", p_ + "m");
    return last;
  }

  Last WriteTwo(const Last& four) {
    Label("m");
    Last last;
    for (const Phi& phi : loop_.phis) {
      last.values[phi.name] = In("m", phi.name);
      Merge(In("m", phi.name), phi.type, phi.first, p_ + "e", four.next.at(phi.name), p_ + "4");
    }
    for (const auto& value : outside_) {
      Merge(In("mo", value.first), value.second, "undef", p_ + "e", four.values.at(value.first),
            p_ + "4");
    }
    Merge(p_ + "mf", "i1", "true", p_ + "e", "false", p_ + "4");
    Condition(p_ + "mc", In("m", loop_.counter), 2);
    Branch(p_ + "mc", p_ + "2", p_ + "t");
    Label("2");
    Append(p_ + "2.", 2, &last, &made_);
    made_.push_back(absl::StrCat("  br label ", p_, "t"));
    return last;
  }

  // One more; a loop that was entered without a look at its condition has at least one.
  void WriteOne(const Last& two) {
    Label("t");
    for (const Phi& phi : loop_.phis) {
      Merge(In("t", phi.name), phi.type, In("m", phi.name), p_ + "m", two.next.at(phi.name),
            p_ + "2");
    }
    for (const auto& value : outside_) {
      Merge(In("to", value.first), value.second, In("mo", value.first), p_ + "m",
            two.values.at(value.first), p_ + "2");
    }
    Merge(p_ + "tf", "i1", p_ + "mf", p_ + "m", "false", p_ + "2");
    made_.push_back(absl::StrCat("  ", p_, "tc = icmp ", loop_.predicate, " ", loop_.type, " ",
                                 In("t", loop_.counter), ", ", loop_.bound));
    made_.push_back(absl::StrCat("  ", p_, "ta = or i1 ", p_, "tf, ", p_, "tc"));
    Branch(p_ + "ta", loop_.label, p_ + "x");
    made_.push_back("");
    const std::string& label = lines_[loop_.begin - 1];
    made_.push_back(label.substr(0, label.find(':') + 1));
    for (const Phi& phi : loop_.phis) {
      Merge(phi.name, phi.type, In("t", phi.name), p_ + "t", phi.next, loop_.label);
    }
    for (size_t i = loop_.begin; i < loop_.end; ++i) {
      if (!absl::StartsWith(Operation(lines_[i]), "phi ")) made_.push_back(lines_[i]);
    }
    made_.push_back(Renamed(lines_[loop_.end], {{loop_.exit, p_ + "x"}}));
  }

  void WriteExit() {
    Label("x");
    for (const auto& value : outside_) {
      behind_[value.first] = In("xo", value.first);
      Merge(behind_[value.first], value.second, In("to", value.first), p_ + "t", value.first,
            loop_.label);
    }
    made_.push_back(absl::StrCat("  br label ", loop_.exit));
  }

  const CountedLoop& loop_;
  const std::vector<std::string>& lines_;
  const std::string p_;                         // Of new names.
  std::map<std::string, std::string> outside_;  // What is used behind the loop, with its type.
  Names behind_;                                // Its names there.
  std::vector<std::string> made_;
};

}  // namespace

size_t UnrollByFour(const CountedLoop& loop, int number, std::vector<std::string>* lines) {
  Copies copies(loop, number, *lines);
  if (!copies.FindWhatIsOutside()) return loop.end;
  const std::vector<std::string> made = copies.Blocks();
  copies.Redirect(lines);
  lines->erase(lines->begin() + loop.begin - 1, lines->begin() + loop.end + 1);
  lines->insert(lines->begin() + loop.begin - 1, made.begin(), made.end());
  return loop.begin - 1 + made.size() - 1;
}

}  // namespace stridewise::executor
