#include "common/executor/run/common_end.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "common/executor/run/common_rows.h"
#include "common/executor/run/ir_operation.h"
#include "common/executor/run/ir_text.h"
#include "common/executor/run/met_branch.h"

namespace stridewise::executor {
namespace {

using Lines = std::vector<std::string>;

// Operations of a block in which addresses may be computed in any order: nvcc hoists them there.
constexpr size_t kSmall = 10;

// Finds the rows, and which of them nvcc moves.
class CommonEnd : public CommonRows {
 public:
  CommonEnd(const Lines& function, const std::map<std::string, IrBlock>& blocks,
            const std::string& join, const std::set<std::string>& alike)
      : CommonRows(function, blocks, join), blocks_(blocks) {
    load_was_hoisted_ = std::all_of(before_.begin(), before_.end(), [&](const std::string& block) {
      return alike.count(block) > 0;
    });
  }

  // Finds the rows. Returns whether they are to move.
  bool Find() {
    const MetBranch branch =
        before_.size() == 2 ? BranchBefore(function_, blocks_, before_) : MetBranch{true, false};
    if (!branch.else_is_one_block) return false;
    std::vector<size_t> at = ends_;
    for (;;) {
      std::vector<IrOperation> row;
      for (size_t i = 0; i < at.size() && at[i] > firsts_[i]; ++i) {
        row.push_back(OperationOf(function_[at[i] - 1]));
      }
      if (row.size() < at.size()) break;
      if (IsCommon(row)) {
        rows_.push_back(row);
        lines_.emplace_back();
        for (size_t& line : at) lines_.back().push_back(--line);
        continue;
      }
      // What computes a value may stay before what moves.
      bool passed = false;
      for (size_t i = 0; i < at.size() && !passed; ++i) {
        passed = row[i].IsPure() && !row[i].IsOfFloats() && ends_[i] - firsts_[i] <= kSmall &&
                 MayStay(i, row[i]);
        if (passed) --at[i];
      }
      if (!passed) break;
    }
    // Where an operation needs one that does not move, it stays too.
    while (!rows_.empty() && !Agree()) rows_.resize(longest_);
    const auto is_address = [](const std::vector<IrOperation>& row) { return row[0].IsAddress(); };
    const auto moving =
        rows_.size() - static_cast<size_t>(std::count_if(rows_.begin(), rows_.end(), is_address));
    if (moving != 1) return moving >= 2;
    if (rows_[0][0].IsStore() && LastTwoStay()) return false;
    if (rows_[0][0].IsStore() && IndexIsUsedBefore()) return true;
    if (rows_[0][0].IsStore() && load_was_hoisted_ && Phis(true) == Phis(false)) return true;
    return Phis(false).empty() ||
           (rows_[0][0].IsStore() && RestIsPure() && (!branch.asks_for_equality || ChoosesKnown()));
  }

 private:
  // Whether the last operation chooses between constants and what was computed before the branch,
  // and the blocks do nothing else that has to be done there.
  bool ChoosesKnown() const {
    return RestIsPure() &&
           std::all_of(rows_[0].begin(), rows_[0].end(), [this](const IrOperation& operation) {
             return IsKnown(operation.operands[0].value);
           });
  }

  // Whether nothing of a block computes the value.
  bool IsKnown(const std::string& value) const {
    for (size_t i = 0; i < ends_.size(); ++i) {
      for (size_t line = firsts_[i]; line < ends_[i]; ++line) {
        if (Defined(function_[line]) == value) return false;
      }
    }
    return true;
  }

  // Whether the last two of several blocks store different values that were known before, or the
  // last but one a zero: `if (x < 0) s[t] = 0; else if (x > 1) s[t] = 1; else s[t] = x;` stays
  // three stores.
  bool LastTwoStay() const {
    if (before_.size() < 3) return false;
    std::vector<size_t> order(before_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [this](size_t a, size_t b) { return firsts_[a] < firsts_[b]; });
    const std::string& last = rows_[0][order.back()].operands[0].value;
    const std::string& other = rows_[0][order[order.size() - 2]].operands[0].value;
    return last != other && (IsZero(other) || (IsKnown(last) && IsKnown(other)));
  }

  // Whether the store's address has an index that is the same for all blocks, and that an address
  // before the branch has, too.
  bool IndexIsUsedBefore() const {
    const size_t first = *std::min_element(firsts_.begin(), firsts_.end());
    for (const auto& row : rows_) {
      if (!row[0].IsAddress()) continue;
      const IrOperand& index = row[0].operands.back();
      if (index.value[0] != '%' || !NeedsNone(row, row[0].operands.size() - 1)) continue;
      for (size_t line = 0; line < first; ++line) {
        if (OperationOf(function_[line]).IsAddress() && Uses(function_[line], index.value)) {
          return true;
        }
      }
    }
    return false;
  }

  // Whether all that the blocks do before the only operation that moves might be done for the
  // others, too.
  bool RestIsPure() const {
    for (size_t i = 0; i < ends_.size(); ++i) {
      for (size_t line = firsts_[i]; line < lines_[0][i]; ++line) {
        if (!IsPhi(line) && !OperationOf(function_[line]).IsPure()) return false;
      }
    }
    return true;
  }

  bool IsCommon(const std::vector<IrOperation>& row) const {
    for (size_t i = 0; i < row.size(); ++i) {
      if (!DoTheSame(row[0], row[i]) || !IsUsedAlike(row, i)) return false;
    }
    return true;
  }

  // Whether no other block computes the same of the same, but for an index of 64 bits.
  bool MayStay(size_t i, const IrOperation& operation) const {
    if (operation.IsIndex()) return true;
    const std::string key = KeyOf(operation);
    for (size_t other = 0; other < ends_.size(); ++other) {
      for (size_t line = firsts_[other]; line < ends_[other] && other != i; ++line) {
        const IrOperation here = OperationOf(function_[line]);
        if (here.known() && KeyOf(here) == key) return false;
      }
    }
    return true;
  }

  // Whether the value of block `i` is used only where that of the first one is: by operations that
  // move, and by phis that choose among these values.
  bool IsUsedAlike(const std::vector<IrOperation>& row, size_t i) const {
    const std::string& name = row[i].result;
    if (name.empty()) return true;
    size_t alike = 0;
    for (const auto& other : rows_) {
      for (size_t j = 0; j < other[0].operands.size(); ++j) {
        const bool used = other[i].operands[j].value == name;
        if (used != (other[0].operands[j].value == row[0].result)) return false;
        alike += used ? 1 : 0;
      }
    }
    for (size_t line = join_.first; IsPhi(line); ++line) {
      const bool used = Uses(function_[line], name);
      if (used != Uses(function_[line], row[0].result)) return false;
      alike += used ? 1 : 0;
    }
    size_t all = 0;
    for (const std::string& line : function_) {
      for (size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
        all += NameAt(line, at) == name ? 1 : 0;
      }
    }
    return all == alike + 1;  // And where it is defined.
  }

  static bool AreConstants(const std::vector<IrOperation>& row, size_t j) {
    return std::all_of(row.begin(), row.end(), [j](const IrOperation& operation) {
      return operation.operands[j].value[0] != '%';
    });
  }

  // Whether no row needs a phi that chooses a pointer, or another thing that must agree.
  bool Agree() {
    for (longest_ = 0; longest_ < rows_.size(); ++longest_) {
      const auto& row = rows_[longest_];
      int phis = 0;
      for (size_t j = 0; j < row[0].operands.size(); ++j) {
        if (NeedsNone(row, j)) continue;
        if (!row[0].IsAddress() && !AreConstants(row, j) && ++phis > 1) return false;
        if (row[0].operands[j].must_agree) return false;
        if (row[0].IsStore() && before_.size() == 2 && ElseIsZero(row, j, firsts_) &&
            !(longest_ == 0 && ChoosesKnown())) {
          return false;
        }
      }
    }
    return true;
  }

  const std::map<std::string, IrBlock>& blocks_;
  size_t longest_ = 0;             // The first row that may not move.
  bool load_was_hoisted_ = false;  // That all blocks had.
};

}  // namespace

bool MoveCommonEnd(const std::map<std::string, IrBlock>& blocks, const std::string& join,
                   const std::set<std::string>& alike, std::vector<std::string>* function,
                   int* number) {
  CommonEnd end(*function, blocks, join, alike);
  if (!end.Find()) return false;
  Lines moved = end.Moved(number);
  *function = std::move(moved);
  return true;
}

}  // namespace stridewise::executor
