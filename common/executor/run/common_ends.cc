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

// Where both blocks that follow one compute the same address, that one does it for them: else what
// stands before it in one of them would not move.
Lines Hoisted(Lines function) {
  const std::map<std::string, IrBlock> blocks = BlocksOf(function);
  std::map<size_t, Lines> before;  // What to insert, by line.
  std::set<size_t> gone;
  Names same;
  for (const auto& branch : blocks) {
    const absl::string_view line = function[branch.second.last];
    const size_t first = line.find("label %"), second = line.rfind("label %");
    if (!absl::StartsWith(line, "  br i1 ") || first == second) continue;
    const IrBlock& one = blocks.at(std::string(NameAt(line, first + 6)));
    const IrBlock& other = blocks.at(std::string(NameAt(line, second + 6)));
    if (one.before.size() != 1 || other.before.size() != 1) continue;
    std::map<std::string, size_t> lines_of_one;
    for (size_t i = one.first; i < one.last; ++i) {
      const IrOperation operation = OperationOf(Renamed(function[i], same));
      if (IsOfAddress(operation)) lines_of_one.emplace(KeyOf(operation), i);
    }
    for (size_t i = other.first; i < other.last; ++i) {
      const IrOperation operation = OperationOf(Renamed(function[i], same));
      const auto found =
          IsOfAddress(operation) ? lines_of_one.find(KeyOf(operation)) : lines_of_one.end();
      if (found == lines_of_one.end() || !gone.insert(found->second).second) continue;
      gone.insert(i);
      before[branch.second.last].push_back(function[found->second]);
      same[operation.result] = Defined(function[found->second]);
    }
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
bool MoveAll(Lines* function, int* number) {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    const std::map<std::string, IrBlock> blocks = BlocksOf(*function);
    for (const auto& block : blocks) {
      if (!Joins(blocks, block.second)) continue;
      if (!MoveCommonEnd(blocks, block.first, function, number)) continue;
      again = changed = true;
      break;
    }
  }
  return changed;
}

Lines Changed(Lines function, int* number) {
  if (function.size() < 3) return function;
  Lines named = WithNames(function);
  if (MoveAll(&named, number)) function = named;
  named = Hoisted(std::move(named));
  return MoveAll(&named, number) ? named : function;
}

}  // namespace

std::vector<std::string> WithCommonEndsMoved(std::vector<std::string> lines) {
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    return Changed(std::move(function), &number);
  });
}

}  // namespace stridewise::executor
