#include "common/executor/run/predicated_loads.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_blocks.h"
#include "common/executor/run/ir_operation.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

using Lines = std::vector<std::string>;

// Instructions of a side that ptxas predicates.
constexpr size_t kMostInstructions = 20;

// What is part of another instruction of a GPU.
bool IsNoInstruction(const IrOperation& operation) {
  for (const char* part : {"getelementptr ", "sext ", "zext ", "bitcast ", "fmul "}) {
    if (absl::StartsWith(operation.texts[0], part)) return true;
  }
  return false;
}

class Function {
 public:
  Function(Lines lines, const std::set<std::string>& shared)
      : lines_(std::move(lines)), shared_(shared), blocks_(BlocksOf(lines_)) {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string name = Defined(lines_[i]);
      if (!name.empty()) definitions_[name] = i;
    }
  }

  // Merges the loads of all branches. Returns whether there are any.
  bool Merge() {
    for (const auto& block : blocks_) {
      const std::string& branch = lines_[block.second.last];
      if (!absl::StartsWith(branch, "  br i1 ")) continue;
      const size_t first = branch.find("label %"), second = branch.find("label %", first + 1);
      if (second == std::string::npos) continue;
      MergeSides(block.first, std::string(NameAt(branch, first + 6)),
                 std::string(NameAt(branch, second + 6)));
    }
    return !moved_.empty();
  }

  // The lines with what was merged before the branches.
  Lines Result() const {
    Lines result;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const auto before = moved_.find(i);
      if (before != moved_.end()) {
        for (const size_t line : before->second) result.push_back(Renamed(lines_[line], names_));
      }
      if (removed_.count(i) == 0) result.push_back(Renamed(lines_[i], names_));
    }
    return result;
  }

 private:
  struct Side {
    const IrBlock* block;
    std::vector<size_t> loads;  // Before any store, of other memory than shared.
    bool stores = false;
  };

  // The side that is this block, if ptxas predicates it.
  std::optional<Side> SideOf(const std::string& head, const std::string& name) const {
    Side side{&blocks_.at(name), {}, false};
    if (side.block->before != std::vector<std::string>{head}) return std::nullopt;
    if (!absl::StartsWith(lines_[side.block->last], "  br label %")) return std::nullopt;
    size_t instructions = 0;
    for (size_t i = side.block->first; i < side.block->last; ++i) {
      const IrOperation operation = OperationOf(lines_[i]);
      if (absl::StrContains(lines_[i], " fdiv ") || absl::StrContains(lines_[i], " frem ")) {
        return std::nullopt;
      }
      if (operation.IsStore()) {
        side.stores = true;
      } else if (operation.IsLoad()) {
        if (!side.stores && !PointsTo(lines_[i], lines_, shared_)) side.loads.push_back(i);
      } else if (!operation.IsPure()) {
        return std::nullopt;
      }
      if (!IsNoInstruction(operation) && ++instructions > kMostInstructions) return std::nullopt;
    }
    return side;
  }

  void MergeSides(const std::string& head, const std::string& one, const std::string& other) {
    if (one == other) return;
    const std::optional<Side> a = SideOf(head, one), b = SideOf(head, other);
    if (!a.has_value() || !b.has_value() || (a->stores && b->stores)) return;
    const auto join = [&](const Side& side) {
      return NameAt(lines_[side.block->last], lines_[side.block->last].find('%'));
    };
    if (join(*a) != join(*b)) return;
    std::set<size_t> taken;
    for (const size_t load : b->loads) {
      for (const size_t like : a->loads) {
        if (taken.count(like) > 0 || !IsSame(like, load, *a, *b)) continue;
        taken.insert(like);
        Move(like, *a->block, blocks_.at(head).last);
        names_[Defined(lines_[load])] = Defined(lines_[like]);
        removed_.insert(load);
        break;
      }
    }
  }

  std::optional<size_t> Within(const std::string& value, const IrBlock& block) const {
    const auto found = definitions_.find(value);
    if (found == definitions_.end() || found->second < block.first || found->second >= block.last) {
      return std::nullopt;
    }
    return found->second;
  }

  // Whether two lines of the sides do the same with what was known before the branch.
  bool IsSame(size_t line, size_t other, const Side& a, const Side& b) const {
    const IrOperation x = OperationOf(lines_[line]), y = OperationOf(lines_[other]);
    if (!x.known() || !y.known() || !DoTheSame(x, y)) return false;
    for (size_t i = 0; i < x.operands.size(); ++i) {
      const std::optional<size_t> of_x = Within(x.operands[i].value, *a.block);
      const std::optional<size_t> of_y = Within(y.operands[i].value, *b.block);
      if (of_x.has_value() != of_y.has_value()) return false;
      if (!of_x.has_value()) {
        if (x.operands[i].value != y.operands[i].value) return false;
        continue;
      }
      if (OperationOf(lines_[*of_x]).IsLoad() || !IsSame(*of_x, *of_y, a, b)) return false;
    }
    return true;
  }

  // Moves a line, and what it needs of its block, before the branch.
  void Move(size_t line, const IrBlock& block, size_t branch) {
    if (!removed_.insert(line).second) return;
    for (const IrOperand& operand : OperationOf(lines_[line]).operands) {
      const std::optional<size_t> needed = Within(operand.value, block);
      if (needed.has_value()) Move(*needed, block, branch);
    }
    moved_[branch].push_back(line);
  }

  Lines lines_;
  const std::set<std::string>& shared_;
  std::map<std::string, IrBlock> blocks_;
  std::map<std::string, size_t> definitions_;
  std::map<size_t, std::vector<size_t>> moved_;  // Lines, by the branch that they go before.
  std::set<size_t> removed_;
  Names names_;
};

}  // namespace

std::vector<std::string> WithPredicatedLoadsMerged(std::vector<std::string> lines) {
  const std::set<std::string> shared = SharedVariables(lines);
  return WithDeviceFunctions(std::move(lines), [&](Lines function) {
    if (function.size() < 3) return function;
    Function merged(WithNames(function), shared);
    return merged.Merge() ? merged.Result() : function;
  });
}

}  // namespace stridewise::executor
