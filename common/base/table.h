// Prints an aligned table on the terminal, row by row as results come.

#ifndef STRIDEWISE_COMMON_BASE_TABLE_H_
#define STRIDEWISE_COMMON_BASE_TABLE_H_

#include <ostream>
#include <string>
#include <vector>

namespace stridewise {

struct TableColumn {
  std::string title;
  int width = 0;  // At least the title's.
  bool right_aligned = false;
};

class Table {
 public:
  // `out` must outlive the table.
  Table(std::vector<TableColumn> columns, std::ostream* out);

  // Prints the titles and a rule below them.
  void PrintHeader();

  // Prints one line and flushes it. Missing cells are empty. A cell that is longer than its column
  // is not cut and shifts the cells behind it. REQUIRES: no more cells than columns; ASCII, no
  // newlines.
  void PrintRow(const std::vector<std::string>& cells);

 private:
  std::vector<TableColumn> columns_;
  std::ostream* out_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_TABLE_H_
