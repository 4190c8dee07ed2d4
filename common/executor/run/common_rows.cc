#include "common/executor/run/common_rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stridewise::executor {
namespace {

using Lines = std::vector<std::string>;

// The type, and the value of each block.
std::vector<std::string> ValuesOf(const std::vector<IrOperation>& row, size_t j) {
  std::vector<std::string> values = {row[0].operands[j].type};
  for (const IrOperation& operation : row) values.push_back(operation.operands[j].value);
  return values;
}

}  // namespace

CommonRows::CommonRows(const Lines& function, const std::map<std::string, IrBlock>& blocks,
                       const std::string& join)
    : function_(function), join_(blocks.at(join)), before_(join_.before) {
  for (const std::string& block : before_) {
    ends_.push_back(blocks.at(block).last);
    firsts_.push_back(blocks.at(block).first);
  }
}

Lines CommonRows::Moved(int* number) const {
  std::map<std::vector<std::string>, std::string> phis;
  std::map<std::string, std::string> names;  // What moves, by the first block's name.
  std::set<std::string> moved;
  Lines lines;
  for (const std::vector<std::string>& values : Phis(true)) {
    const std::string name = absl::StrCat("%simt.end", (*number)++);
    std::vector<std::string> choices;
    for (size_t i = 0; i < values.size() - 1; ++i) {
      choices.push_back(absl::StrCat("[ ", values[i + 1], ", ", before_[i], " ]"));
    }
    phis[values] = name;
    lines.push_back(
        absl::StrCat("  ", name, " = phi ", values[0], " ", absl::StrJoin(choices, ", ")));
  }
  const size_t phi_count = lines.size();
  for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
    const IrOperation& first = row->front();
    std::vector<std::string> values;
    for (size_t j = 0; j < first.operands.size(); ++j) {
      const auto phi = phis.find(ValuesOf(*row, j));
      const auto name = names.find(first.operands[j].value);
      values.push_back(phi != phis.end()     ? phi->second
                       : name != names.end() ? name->second
                                             : first.operands[j].value);
    }
    std::string result;
    if (!first.result.empty()) {
      result = absl::StrCat("%simt.end", (*number)++);
      names[first.result] = result;
    }
    lines.push_back(LineOf(first, result, values));
  }
  return Assembled(std::move(lines), phi_count, names);
}

bool CommonRows::NeedsNone(const std::vector<IrOperation>& row, size_t j) const {
  const auto value = [j](const IrOperation& operation) { return operation.operands[j].value; };
  if (std::all_of(row.begin(), row.end(), [&](const IrOperation& operation) {
        return value(operation) == value(row[0]);
      })) {
    return true;
  }
  return std::any_of(rows_.begin(), rows_.end(), [&](const std::vector<IrOperation>& other) {
    return std::equal(row.begin(), row.end(), other.begin(),
                      [&](const IrOperation& user, const IrOperation& used) {
                        return !used.result.empty() && value(user) == used.result;
                      });
  });
}

std::set<std::vector<std::string>> CommonRows::Phis(bool of_addresses) const {
  std::set<std::vector<std::string>> phis;
  for (const auto& row : rows_) {
    if (row[0].IsAddress() && !of_addresses) continue;
    for (size_t j = 0; j < row[0].operands.size(); ++j) {
      if (!NeedsNone(row, j)) phis.insert(ValuesOf(row, j));
    }
  }
  return phis;
}

Lines CommonRows::Assembled(Lines moved, size_t phi_count,
                            const std::map<std::string, std::string>& names) const {
  std::set<size_t> gone;
  for (size_t row = 0; row < rows_.size(); ++row)
    gone.insert(lines_[row].begin(), lines_[row].end());
  size_t behind = join_.first;
  Names replaced;
  for (; IsPhi(behind); ++behind) {
    for (const auto& name : names) {
      if (!Uses(function_[behind], name.first)) continue;
      replaced[Defined(function_[behind])] = name.second;
      gone.insert(behind);
    }
  }
  Lines result;
  for (size_t i = 0; i < function_.size(); ++i) {
    if (i == join_.first)
      result.insert(result.end(), moved.begin(),
                    moved.begin() + static_cast<std::ptrdiff_t>(phi_count));
    if (i == behind)
      result.insert(result.end(), moved.begin() + static_cast<std::ptrdiff_t>(phi_count),
                    moved.end());
    if (gone.count(i) == 0) result.push_back(function_[i]);
  }
  for (std::string& line : result) line = Renamed(line, replaced);
  return result;
}

}  // namespace stridewise::executor
