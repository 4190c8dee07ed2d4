#include "common/executor/run/common_ends.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/common_end.h"
#include "common/executor/run/ir_blocks.h"
#include "common/executor/run/ir_operation.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

using Lines = std::vector<std::string>;

// Whether the block is one where branches meet, and not the beginning of a loop.
bool Joins(const std::map<std::string, IrBlock>& blocks, const IrBlock& block) {
  if (!block.always || block.before.size() < 2) return false;
  return std::all_of(block.before.begin(), block.before.end(),
                     [&](const std::string& name) { return blocks.at(name).last < block.first; });
}

bool IsOfAddress(const IrOperation& operation) {
  return operation.IsAddress() || operation.IsIndex();
}

// What a block computes of addresses, by what it does, and its loads that no store and no call
// precedes, in their order.
struct Hoistable {
  std::map<std::string, size_t> addresses;
  std::vector<size_t> loads;
};
Hoistable HoistableOf(const Lines& function, const IrBlock& block, const Names& same) {
  Hoistable result;
  bool written = false;
  for (size_t i = block.first; i < block.last; ++i) {
    const IrOperation operation = OperationOf(Renamed(function[i], same));
    if (IsOfAddress(operation)) result.addresses.emplace(KeyOf(operation), i);
    if (operation.IsLoad() && !written) result.loads.push_back(i);
    written = written || (!operation.IsPure() && !operation.IsLoad() &&
                          !absl::StartsWith(Operation(function[i]), "phi "));
  }
  return result;
}

// Indices of 64 bits that a block computes twice, by the names of the first ones: of two branches
// in a loop each has moved its own before it. Adds the lines of the second ones to `gone`.
Names SameIndices(const Lines& function, const std::map<std::string, IrBlock>& blocks,
                  std::set<size_t>* gone) {
  Names same;
  for (const auto& block : blocks) {
    std::map<std::string, std::string> first;
    for (size_t i = block.second.first; i < block.second.last; ++i) {
      const IrOperation operation = OperationOf(function[i]);
      if (!operation.IsIndex()) continue;
      const auto added = first.emplace(KeyOf(operation), operation.result);
      if (added.second) continue;
      same[operation.result] = added.first->second;
      gone->insert(i);
    }
  }
  return same;
}

// The block behind one that goes on without a condition, or "".
std::string GoesTo(const Lines& function, const IrBlock& block) {
  const absl::string_view line = function[block.last];
  if (!absl::StartsWith(line, "  br label %")) return "";
  return std::string(NameAt(line, line.find('%')));
}

// Where both blocks that follow one compute the same address, or begin to load with the same
// loads, that one does it for them: else what stands before it in one of them would not move. Adds
// to `alike` the blocks that have lost a load. Where stores of both then have one address, LLVM
// makes one of them, which nvcc does not: so branches without such loads come later, and only where
// something moves.
enum class Which { kWithLoads, kAll };
Lines Hoisted(Lines function, Which which, std::set<std::string>* alike) {
  const std::map<std::string, IrBlock> blocks = BlocksOf(function);
  std::map<size_t, Lines> before;  // What to insert, by line.
  std::set<size_t> gone;
  Names same = SameIndices(function, blocks, &gone);
  for (const auto& branch : blocks) {
    const absl::string_view line = function[branch.second.last];
    const size_t first = line.find("label %"), second = line.rfind("label %");
    if (!absl::StartsWith(line, "  br i1 ") || first == second) continue;
    const std::string one_name(NameAt(line, first + 6)), other_name(NameAt(line, second + 6));
    const IrBlock& one = blocks.at(one_name);
    const IrBlock& other = blocks.at(other_name);
    if (one.before.size() != 1 || other.before.size() != 1) continue;
    const Hoistable of_one = HoistableOf(function, one, same);
    const Hoistable of_other = HoistableOf(function, other, same);
    // Loads only where nothing else comes to where the two meet.
    const bool meet = blocks.count(GoesTo(function, one)) > 0 &&
                      GoesTo(function, one) == GoesTo(function, other) &&
                      blocks.at(GoesTo(function, one)).before.size() == 2;
    size_t loads = 0;  // That both have lost.
    std::vector<size_t> twins;
    Names renamed = same;
    std::set<size_t> taken = gone;
    for (size_t i = other.first; i < other.last; ++i) {
      const IrOperation operation = OperationOf(Renamed(function[i], renamed));
      if (!operation.known() || taken.count(i) > 0) continue;
      size_t twin = 0;
      if (IsOfAddress(operation)) {
        const auto found = of_one.addresses.find(KeyOf(operation));
        if (found == of_one.addresses.end()) continue;
        twin = found->second;
      } else if (meet && loads < of_one.loads.size() && loads < of_other.loads.size() &&
                 of_other.loads[loads] == i) {
        twin = of_one.loads[loads];
        if (KeyOf(OperationOf(Renamed(function[twin], renamed))) != KeyOf(operation)) continue;
        ++loads;
      } else {
        continue;
      }
      if (!taken.insert(twin).second) continue;
      taken.insert(i);
      twins.push_back(twin);
      renamed[operation.result] = Defined(function[twin]);
    }
    if (which == Which::kWithLoads && loads == 0) continue;
    if (loads > 0) alike->insert({one_name, other_name});
    for (const size_t twin : twins) before[branch.second.last].push_back(function[twin]);
    same = std::move(renamed);
    gone = std::move(taken);
  }
  if (gone.empty()) return function;
  Lines result;
  for (size_t i = 0; i < function.size(); ++i) {
    for (std::string& line : before[i]) result.push_back(std::move(line));
    if (gone.count(i) == 0) result.push_back(std::move(function[i]));
  }
  for (std::string& line : result) line = Renamed(line, same);
  return result;
}

// Moves all that is to move. Returns whether there was something.
bool MoveAll(const std::set<std::string>& alike, Lines* function, int* number) {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    const std::map<std::string, IrBlock> blocks = BlocksOf(*function);
    for (const auto& block : blocks) {
      if (!Joins(blocks, block.second)) continue;
      if (!MoveCommonEnd(blocks, block.first, alike, function, number)) continue;
      again = changed = true;
      break;
    }
  }
  return changed;
}

Lines Changed(Lines function, int* number) {
  if (function.size() < 3) return function;
  Lines named = WithNames(function);
  std::set<std::string> alike;
  if (MoveAll(alike, &named, number)) function = named;
  named = Hoisted(std::move(named), Which::kWithLoads, &alike);
  if (MoveAll(alike, &named, number) || !alike.empty()) function = named;
  named = Hoisted(std::move(named), Which::kAll, &alike);
  return MoveAll(alike, &named, number) ? named : function;
}

}  // namespace

std::vector<std::string> WithCommonEndsMoved(std::vector<std::string> lines) {
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    return Changed(std::move(function), &number);
  });
}

}  // namespace stridewise::executor
