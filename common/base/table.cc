#include "common/base/table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"

namespace stridewise {

Table::Table(std::vector<TableColumn> columns, std::ostream* out)
    : columns_(std::move(columns)), out_(out) {
  for (TableColumn& column : columns_) {
    column.width = std::max(column.width, static_cast<int>(column.title.size()));
  }
}

void Table::PrintHeader() {
  std::vector<std::string> titles, rules;
  for (const TableColumn& column : columns_) {
    titles.push_back(column.title);
    rules.emplace_back(column.width, '-');
  }
  PrintRow(titles);
  PrintRow(rules);
}

void Table::PrintRow(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < columns_.size() && i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    const size_t width = columns_[i].width;
    const std::string padding(width - std::min(width, cells[i].size()), ' ');
    line += columns_[i].right_aligned ? padding + cells[i] : cells[i] + padding;
  }
  *out_ << absl::StripTrailingAsciiWhitespace(line) << std::endl;
}

}  // namespace stridewise
