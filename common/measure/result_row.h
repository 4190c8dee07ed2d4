// One row of results: the same columns for every sweep, each a text that is empty where the value
// is unknown.

#ifndef STRIDEWISE_COMMON_MEASURE_RESULT_ROW_H_
#define STRIDEWISE_COMMON_MEASURE_RESULT_ROW_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace stridewise {

// The version of the columns below, in the first of them.
inline constexpr int kSchemaVersion = 1;

// A column of the file. csv_columns.inc lists them; docs/measuring.md explains them.
enum class Column {
#define CSV_COLUMN(enumerator, header) enumerator,
#include "common/measure/csv_columns.inc"
#undef CSV_COLUMN
};

// The number of columns.
inline constexpr int kNumColumns = 0
#define CSV_COLUMN(enumerator, header) +1
#include "common/measure/csv_columns.inc"
#undef CSV_COLUMN
    ;

// Returns the column's header in the file.
absl::string_view ColumnName(Column column);

// How a configuration ended. A row with another status than kOk says why in its message.
enum class RowStatus { kOk, kSkipped, kOutOfMemory, kMismatch, kUnsupported, kTimeout, kError };

// Returns the text of the status column: "ok", "skipped", "out_of_memory" and so on.
absl::string_view RowStatusName(RowStatus status);

// The cells of a row.
class ResultRow {
 public:
  // A row of this schema_version in which all else is unknown.
  ResultRow();

  // Text is kept to printable ASCII, so that a cell is one line: a newline becomes a space, any
  // other control character and each non-ASCII byte a '?'.
  void Set(Column column, absl::string_view text);

  // Writes nine significant digits in the shortest form ("0.1", "1e-07"). NaN and infinities are
  // unknown values: the cell becomes empty.
  void Set(Column column, double value);

  // Writes all digits of an integer.
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  void Set(Column column, T value) {
    static_assert(!std::is_same_v<T, bool> && !std::is_same_v<T, char>, "not a number");
    Set(column, absl::string_view(absl::StrCat(value)));
  }

  // Sets status and message. A row that is ok usually has no message.
  void SetStatus(RowStatus status, absl::string_view message = "");

  // Returns the cell's text, which is empty where the value is unknown.
  const std::string& Get(Column column) const { return cells_[static_cast<int>(column)]; }

  friend bool operator==(const ResultRow& a, const ResultRow& b) { return a.cells_ == b.cells_; }

 private:
  std::array<std::string, kNumColumns> cells_;
};

// Returns the status that the row names, or nullopt where its text is empty or no status.
std::optional<RowStatus> StatusOf(const ResultRow& row);

// Returns whether the row has this status.
bool HasStatus(const ResultRow& row, RowStatus status);

// Returns whether the row makes a sweep fail: its result was wrong, or it has none and should have.
bool IsWrong(const ResultRow& row);

// Returns a key that is equal for two rows exactly when they measured the same configuration: the
// same operation, implementation, dtype, math, shape, block, l2, host_memory, batch, layout, alpha,
// beta, workspace, permutation, precision, epilogue, grid and grid_block. Rows of older files,
// which lack the last of them, have the key of rows in which those are empty. For --resume, not for
// display.
std::string RowKey(const ResultRow& row);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_RESULT_ROW_H_
