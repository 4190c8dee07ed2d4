#include "common/measure/result_row.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace stridewise {
namespace {

constexpr absl::string_view kColumnNames[] = {
#define CSV_COLUMN(enumerator, header) header,
#include "common/measure/csv_columns.inc"
#undef CSV_COLUMN
};

constexpr Column kKeyColumns[] = {Column::kOperation, Column::kImplementation, Column::kDtype,
                                  Column::kMath,      Column::kRows,           Column::kCols,
                                  Column::kDepth,     Column::kBlockX,         Column::kBlockY,
                                  Column::kL2,        Column::kHostMemory,     Column::kBatch,
                                  Column::kLayout,    Column::kAlpha,          Column::kBeta,
                                  Column::kWorkspace, Column::kPermutation,    Column::kPrecision,
                                  Column::kEpilogue,  Column::kGrid,           Column::kGridBlock};

std::string ToPrintableAscii(absl::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c == '\n') {
      c = ' ';
    } else if (!absl::ascii_isprint(static_cast<unsigned char>(c))) {
      c = '?';
    }
  }
  return result;
}

}  // namespace

absl::string_view ColumnName(Column column) { return kColumnNames[static_cast<int>(column)]; }

absl::string_view RowStatusName(RowStatus status) {
  switch (status) {
    case RowStatus::kOk:
      return "ok";
    case RowStatus::kSkipped:
      return "skipped";
    case RowStatus::kOutOfMemory:
      return "out_of_memory";
    case RowStatus::kMismatch:
      return "mismatch";
    case RowStatus::kUnsupported:
      return "unsupported";
    case RowStatus::kTimeout:
      return "timeout";
    case RowStatus::kError:
      return "error";
  }
  return "error";
}

ResultRow::ResultRow() { Set(Column::kSchemaVersion, kSchemaVersion); }

void ResultRow::Set(Column column, absl::string_view text) {
  cells_[static_cast<int>(column)] = ToPrintableAscii(text);
}

void ResultRow::Set(Column column, double value) {
  // absl's formatting has '.' as decimal mark whatever the locale.
  cells_[static_cast<int>(column)] =
      std::isfinite(value) ? absl::StrFormat("%.9g", value) : std::string();
}

void ResultRow::SetStatus(RowStatus status, absl::string_view message) {
  Set(Column::kStatus, RowStatusName(status));
  Set(Column::kMessage, message);
}

std::optional<RowStatus> StatusOf(const ResultRow& row) {
  for (int i = 0; i <= static_cast<int>(RowStatus::kError); ++i) {
    if (HasStatus(row, static_cast<RowStatus>(i))) return static_cast<RowStatus>(i);
  }
  return std::nullopt;
}

bool HasStatus(const ResultRow& row, RowStatus status) {
  return row.Get(Column::kStatus) == RowStatusName(status);
}

bool IsWrong(const ResultRow& row) {
  return HasStatus(row, RowStatus::kMismatch) || HasStatus(row, RowStatus::kError);
}

std::string RowKey(const ResultRow& row) {
  std::string key;
  for (Column column : kKeyColumns) {
    // No cell holds a newline, so that it can separate them.
    absl::StrAppend(&key, row.Get(column), "\n");
  }
  return key;
}

}  // namespace stridewise
