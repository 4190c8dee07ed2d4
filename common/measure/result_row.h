// One row of results: the same columns for every sweep, each a text that is empty where the value
// is unknown.

#ifndef STRIDEWISE_COMMON_MEASURE_RESULT_ROW_H_
#define STRIDEWISE_COMMON_MEASURE_RESULT_ROW_H_

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace stridewise {

// The version of the columns below, in the first of them.
inline constexpr int kSchemaVersion = 1;

// A column of the file: csv_columns.inc has their list, docs/measuring.md their meaning.
enum class Column {
#define CSV_COLUMN(enumerator, header) enumerator,
#include "common/measure/csv_columns.inc"
#undef CSV_COLUMN
};

// How many there are.
inline constexpr int kNumColumns = 0
#define CSV_COLUMN(enumerator, header) +1
#include "common/measure/csv_columns.inc"
#undef CSV_COLUMN
    ;

// The column's header in the file.
absl::string_view ColumnName(Column column);

// How a configuration ended. A row that is not kOk says why in its message.
enum class RowStatus { kOk, kSkipped, kOutOfMemory, kMismatch, kUnsupported, kTimeout, kError };

// "ok", "skipped", "out_of_memory" and so on: the text of the status column.
absl::string_view RowStatusName(RowStatus status);

// True for a status that makes a sweep fail: the result was wrong, or there is none and should be.
bool IsWrong(RowStatus status);

// The cells of a row.
class ResultRow {
 public:
  // A row of this schema_version in which all else is unknown.
  ResultRow();

  // Text is kept to printable ASCII, so that a cell is one line: a newline becomes a space, any
  // other control character and each non-ASCII byte a '?'.
  void Set(Column column, absl::string_view text);

  // Nine significant digits, shortest form ("0.1", "1e-07"). NaN and infinities are unknown: the
  // cell becomes empty.
  void Set(Column column, double value);

  // Any integer, all its digits.
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  void Set(Column column, T value) {
    static_assert(!std::is_same_v<T, bool> && !std::is_same_v<T, char>, "not a number");
    Set(column, absl::string_view(absl::StrCat(value)));
  }

  // Sets status and message. A row that is ok usually has no message.
  void SetStatus(RowStatus status, absl::string_view message = "");

  // The cell's text; empty where unknown.
  const std::string& Get(Column column) const { return cells_[static_cast<int>(column)]; }

  friend bool operator==(const ResultRow& a, const ResultRow& b) { return a.cells_ == b.cells_; }

 private:
  std::array<std::string, kNumColumns> cells_;
};

// Identifies the configuration that a row measured: equal for two rows exactly when operation,
// implementation, dtype, math, shape, block, l2, host_memory, batch, layout, alpha and beta are. A
// row from before there were the last four has none, as one without them has. For --resume; not for
// people.
std::string RowKey(const ResultRow& row);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_RESULT_ROW_H_
