#include "common/executor/run/overwritten_stores.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_blocks.h"
#include "common/executor/run/ir_operation.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

using Lines = std::vector<std::string>;

// Blocks and lines that ptxas predicates.
constexpr size_t kMostBlocks = 4;
constexpr size_t kMostLines = 24;

// What the values of merged stores are called.
constexpr absl::string_view kMerged = "%simt.overwritten";

// One instruction of a GPU, a call on the host.
bool IsExtremum(absl::string_view line) {
  return absl::StrContains(line, " @fmaxf(") || absl::StrContains(line, " @fminf(") ||
         absl::StrContains(line, " @llvm.maxnum.f32(") ||
         absl::StrContains(line, " @llvm.minnum.f32(");
}

// A number of the launch, such as gridDim.x, which a GPU has in a register.
bool IsIndexOrExtent(absl::string_view line) {
  for (const char* name :
       {"@simt_thread_idx_", "@simt_block_idx_", "@simt_block_dim_", "@simt_grid_dim_"}) {
    if (absl::StrContains(line, name)) return true;
  }
  return false;
}

class Function {
 public:
  Function(Lines lines, const std::set<std::string>& shared, int* number)
      : lines_(std::move(lines)), shared_(shared), number_(number), blocks_(BlocksOf(lines_)) {}

  // Merges the two stores of one branch. Returns whether there are any.
  bool MergeOne() {
    for (const auto& block : blocks_) {
      if (absl::StartsWith(lines_[block.second.last], "  br i1 ") && MergeBehind(block.first)) {
        return true;
      }
    }
    return false;
  }

  Lines&& lines() && { return std::move(lines_); }

 private:
  bool IsShared(size_t line) const { return PointsTo(lines_[line], lines_, shared_); }

  std::vector<std::string> Next(const std::string& block) const {
    const absl::string_view line = lines_[blocks_.at(block).last];
    std::vector<std::string> result;
    if (!absl::StartsWith(line, "  br ")) return result;
    for (size_t at = line.find("label %"); at != absl::string_view::npos;
         at = line.find("label %", at + 1)) {
      result.emplace_back(NameAt(line, at + 6));
    }
    return result;
  }

  // The blocks that `from` leads to without `around` and `end`.
  std::set<std::string> Reached(const std::vector<std::string>& from, const std::string& around,
                                const std::string& end) const {
    std::set<std::string> result;
    std::vector<std::string> open = from;
    while (!open.empty() && result.size() <= kMostBlocks) {
      const std::string block = open.back();
      open.pop_back();
      if (block == around || block == end || !result.insert(block).second) continue;
      for (const std::string& next : Next(block)) open.push_back(next);
    }
    return result;
  }

  // The line of the store to shared memory that nothing of the block follows which could see it,
  // and that is not one of two already.
  bool FindFirst(const IrBlock& block, size_t* store) const {
    for (size_t i = block.last; i-- > block.first;) {
      const IrOperation operation = OperationOf(lines_[i]);
      if (operation.IsStore() && IsShared(i)) {
        *store = i;
        return !absl::StartsWith(operation.operands[0].value, kMerged);
      }
      if (!operation.IsPure() && !IsIndexOrExtent(lines_[i]) &&
          !(operation.IsLoad() && !IsShared(i))) {
        return false;
      }
    }
    return false;
  }

  // Whether all lines of the blocks may be predicated; finds their one store to shared memory.
  bool FindSecond(const std::set<std::string>& region, std::string* block, size_t* store) const {
    size_t lines = 0;
    int stores = 0;
    for (const std::string& name : region) {
      const IrBlock& here = blocks_.at(name);
      lines += here.last - here.first;
      for (size_t i = here.first; i < here.last; ++i) {
        const IrOperation operation = OperationOf(lines_[i]);
        if (absl::StartsWith(Operation(lines_[i]), "phi ")) continue;
        if (operation.IsStore() && IsShared(i)) {
          ++stores;
          *block = name;
          *store = i;
        } else if (operation.IsLoad() ? IsShared(i)
                                      : !operation.IsPure() && !operation.IsStore() &&
                                            !IsExtremum(lines_[i]) && !IsIndexOrExtent(lines_[i])) {
          return false;
        }
        if (absl::StrContains(lines_[i], " fdiv ") || absl::StrContains(lines_[i], " frem ")) {
          return false;
        }
      }
    }
    return stores == 1 && lines <= kMostLines;
  }

  bool MergeBehind(const std::string& head) {
    size_t first = 0;
    if (!FindFirst(blocks_.at(head), &first)) return false;
    // Where the sides meet: what follows the branch, or what follows that, and so on.
    std::vector<std::string> ends = Next(head);
    for (size_t i = 0; i < ends.size() && ends.size() < 2 * kMostBlocks; ++i) {
      for (const std::string& next : Next(ends[i])) {
        if (std::find(ends.begin(), ends.end(), next) == ends.end()) ends.push_back(next);
      }
    }
    return std::any_of(ends.begin(), ends.end(), [&](const std::string& end) {
      return end != head && Merge(head, first, end);
    });
  }

  bool Merge(const std::string& head, size_t first, const std::string& end) {
    const std::set<std::string> region = Reached(Next(head), head, end);
    if (region.empty() || region.size() > kMostBlocks) return false;
    const auto is_within = [&](const std::string& block) {
      return block == head || region.count(block) > 0;
    };
    for (const std::string& block : region) {
      const auto& before = blocks_.at(block).before;
      const std::vector<std::string> next = Next(block);
      if (!std::all_of(before.begin(), before.end(), is_within) || next.empty()) return false;
      const auto is_before = [&](const std::string& name) {
        return region.count(name) > 0 && blocks_.at(name).first <= blocks_.at(block).first;
      };
      if (std::any_of(next.begin(), next.end(), is_before)) return false;  // A loop.
    }
    const IrBlock& join = blocks_.at(end);
    if (!std::all_of(join.before.begin(), join.before.end(), is_within)) return false;
    std::string with_store;
    size_t second = 0;
    if (!FindSecond(region, &with_store, &second)) return false;
    const IrOperation one = OperationOf(lines_[first]), other = OperationOf(lines_[second]);
    if (!DoTheSame(one, other) || one.operands[1].value != other.operands[1].value) return false;
    const std::string& value = one.operands[0].value;
    const bool conditions = absl::StartsWith(lines_[join.last], "  br i1 ");
    if (!conditions && value != "0" && value != "0.000000e+00") return false;

    const std::set<std::string> behind = Reached({with_store}, head, end);
    const std::set<std::string> beside = Reached(Next(head), with_store, end);
    const std::string name = absl::StrCat(kMerged, (*number_)++), frozen = name + ".frozen";
    std::vector<std::string> choices;
    for (const std::string& block : join.before) {
      const bool stored = behind.count(block) > 0;
      if (stored && beside.count(block) > 0) return false;
      choices.push_back(
          absl::StrCat("[ ", stored ? other.operands[0].value : frozen, ", ", block, " ]"));
    }
    const std::string& type = one.operands[0].type;
    // Two loads would become one of a pointer that the phi chooses, if both were nothing but that.
    const std::string freeze = absl::StrCat("  ", frozen, " = freeze ", type, " ", value);
    const std::string phi =
        absl::StrCat("  ", name, " = phi ", type, " ", absl::StrJoin(choices, ", "));
    Replace(first, freeze, second, join.first, phi, LineOf(one, "", {name, one.operands[1].value}));
    return true;
  }

  // Puts `frozen` in place of the first store, and the phi and the store where the sides meet.
  void Replace(size_t first, const std::string& frozen, size_t second, size_t join,
               const std::string& phi, const std::string& store) {
    Lines result;
    bool stored = false;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (i == join) result.push_back(phi);
      if (i >= join && !stored && !absl::StartsWith(Operation(lines_[i]), "phi ")) {
        result.push_back(store);
        stored = true;
      }
      if (i == first) {
        result.push_back(frozen);
      } else if (i != second) {
        result.push_back(lines_[i]);
      }
    }
    lines_ = std::move(result);
    blocks_ = BlocksOf(lines_);
  }

  Lines lines_;
  const std::set<std::string>& shared_;
  int* number_;
  std::map<std::string, IrBlock> blocks_;
};

}  // namespace

std::vector<std::string> WithOverwrittenStoresMerged(std::vector<std::string> lines) {
  const std::set<std::string> shared = SharedVariables(lines);
  if (shared.empty()) return lines;
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](Lines function) {
    if (function.size() < 3) return function;
    Function merged(WithNames(function), shared, &number);
    if (!merged.MergeOne()) return function;
    while (merged.MergeOne()) {
    }
    return std::move(merged).lines();
  });
}

}  // namespace stridewise::executor
