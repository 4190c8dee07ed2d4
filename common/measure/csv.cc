#include "common/measure/csv.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/measure/csv_records.h"

namespace stridewise {
namespace {

// errno's text is the reason.
std::string CannotDo(absl::string_view what, absl::string_view path) {
  return absl::StrCat("cannot ", what, " \"", absl::CHexEscape(path), "\": ", std::strerror(errno));
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return errno == ENOENT ? absl::NotFoundError(CannotDo("read", path))
                           : absl::InvalidArgumentError(CannotDo("read", path));
  }
  std::string text;
  char buffer[65536];
  while (const size_t bytes = std::fread(buffer, 1, sizeof(buffer), file)) {
    text.append(buffer, bytes);
  }
  absl::Status status;
  if (std::ferror(file)) status = absl::InvalidArgumentError(CannotDo("read", path));
  std::fclose(file);
  RETURN_IF_ERROR(status);
  return text;
}

std::string HeaderRecord() {
  std::vector<absl::string_view> names;
  for (int i = 0; i < kNumColumns; ++i) names.push_back(ColumnName(static_cast<Column>(i)));
  return FormatCsvRecord(names);
}

absl::Status CheckFieldCount(const CsvRecord& record, size_t want, int line) {
  if (record.size() == want) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line, ": ", record.size(), " fields where the header has ", want));
}

// The first files of schema version 1 end with this column; the columns after it are newer.
constexpr size_t kFirstColumns = static_cast<size_t>(Column::kAchievedOccupancy) + 1;

absl::Status CheckHeader(const CsvRecord& header) {
  for (size_t i = 0; i < header.size() && i < kNumColumns; ++i) {
    const absl::string_view want = ColumnName(static_cast<Column>(i));
    if (header[i] != want) {
      return absl::FailedPreconditionError(
          absl::StrCat("column ", i + 1, " is \"", absl::CHexEscape(header[i]),
                       "\" where this program writes \"", want, "\""));
    }
  }
  if (header.size() >= kFirstColumns && header.size() <= kNumColumns) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("it has ", header.size(), " columns where this program writes ", kNumColumns));
}

struct Found {
  std::vector<ResultRow> rows;
  size_t complete_bytes = 0;   // Up to the end of the last complete record; 0 without a header.
  bool lacks_columns = false;  // True for an older version's file, which lacks the last columns.
};

absl::StatusOr<Found> FindCompleteRows(absl::string_view text) {
  Found found;
  // A program that was killed while it wrote the header leaves nothing to keep.
  if (absl::StartsWith(HeaderRecord(), text)) return found;

  CsvRecordReader reader(text);
  CsvRecord record;
  size_t columns = 0;
  for (bool is_header = true; !reader.AtEnd(); is_header = false) {
    const int line = reader.line();
    ASSIGN_OR_RETURN(const CsvEnding ending, reader.Next(&record));
    if (is_header) {
      RETURN_IF_ERROR(CheckHeader(record));
      columns = record.size();
    }
    if (ending != CsvEnding::kNewline) {
      if (is_header) return absl::FailedPreconditionError("its header does not end");
      break;
    }
    RETURN_IF_ERROR(CheckFieldCount(record, columns, line));
    found.complete_bytes = reader.position();
    if (is_header) continue;
    ResultRow& row = found.rows.emplace_back();
    for (size_t i = 0; i < columns; ++i) row.Set(static_cast<Column>(i), record[i]);
  }
  found.lacks_columns = columns < kNumColumns;
  return found;
}

std::string RowRecord(const ResultRow& row) {
  std::vector<absl::string_view> fields;
  for (int i = 0; i < kNumColumns; ++i) fields.emplace_back(row.Get(static_cast<Column>(i)));
  return FormatCsvRecord(fields);
}

// Replaces the file by one that has all columns. Whatever happens, one of the two files exists.
bool WriteWithAllColumns(const std::string& path, const std::vector<ResultRow>& rows) {
  std::string text = HeaderRecord();
  for (const ResultRow& row : rows) text += RowRecord(row);
  const std::string beside = path + ".new";
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written && std::rename(beside.c_str(), path.c_str()) == 0;
}

// Follows symbolic links: /dev/stdout must not be renamed, and what it points to may be a file.
std::string RealPath(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  std::free(resolved);
  return result;
}

// The size of a regular file; nothing for one that does not exist, a device, a pipe or a directory.
std::optional<size_t> RegularFileSize(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return static_cast<size_t>(info.st_size);
}

// Whether a file of this size holds more than (the beginning of) our header.
absl::StatusOr<bool> HoldsMoreThanHeader(const std::string& path, size_t size) {
  if (size > HeaderRecord().size()) return true;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return !absl::StartsWith(HeaderRecord(), text);
}

}  // namespace

absl::StatusOr<CsvTable> ParseCsv(absl::string_view text) {
  CsvTable table;
  CsvRecordReader reader(text);
  if (reader.AtEnd()) return absl::InvalidArgumentError("line 1: there is no header");
  for (bool is_header = true; !reader.AtEnd(); is_header = false) {
    const int line = reader.line();
    CsvRecord record;
    ASSIGN_OR_RETURN(const CsvEnding ending, reader.Next(&record));
    if (ending == CsvEnding::kOpenQuote) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", reader.line(), ": a quote opens and is never closed"));
    }
    if (is_header) {
      table.header = std::move(record);
      continue;
    }
    RETURN_IF_ERROR(CheckFieldCount(record, table.header.size(), line));
    table.rows.push_back(std::move(record));
  }
  return table;
}

absl::StatusOr<CsvTable> ReadCsv(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<CsvTable> table = ParseCsv(text);
  if (table.ok()) return table;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::CHexEscape(path), "\": ", table.status().message()));
}

absl::StatusOr<CsvWriter> CsvWriter::Create(const std::string& path, CsvMode mode) {
  if (path == "-") {
    if (mode == CsvMode::kResume) {
      return absl::InvalidArgumentError("standard output cannot be resumed: name a file");
    }
    CsvWriter writer("standard output", stdout);
    RETURN_IF_ERROR(writer.WriteRecord(HeaderRecord()));
    return writer;
  }

  const std::string real_path = RealPath(path);
  const std::optional<size_t> size = RegularFileSize(real_path);
  Found found;
  if (size.has_value() && mode == CsvMode::kReplace) {
    ASSIGN_OR_RETURN(const bool keep, HoldsMoreThanHeader(real_path, *size));
    if (keep && std::rename(real_path.c_str(), (real_path + ".bak").c_str()) != 0) {
      return absl::InvalidArgumentError(CannotDo("rename to .bak", path));
    }
  } else if (size.has_value()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(real_path));
    absl::StatusOr<Found> complete = FindCompleteRows(text);
    if (!complete.ok()) {
      return absl::FailedPreconditionError(absl::StrCat("cannot resume \"", absl::CHexEscape(path),
                                                        "\": ", complete.status().message()));
    }
    found = *std::move(complete);
    if (found.lacks_columns) {
      if (!WriteWithAllColumns(real_path, found.rows)) {
        return absl::InvalidArgumentError(CannotDo("write", path));
      }
    } else if (found.complete_bytes < text.size() &&
               truncate(real_path.c_str(), static_cast<off_t>(found.complete_bytes)) != 0) {
      return absl::InvalidArgumentError(CannotDo("write", path));
    }
  }

  std::FILE* file = std::fopen(real_path.c_str(), mode == CsvMode::kResume ? "ab" : "wb");
  if (file == nullptr) return absl::InvalidArgumentError(CannotDo("write", path));
  CsvWriter writer(path, file);
  writer.rows_found_ = std::move(found.rows);
  if (found.complete_bytes == 0) {
    if (!writer.WriteRecord(HeaderRecord()).ok()) {
      return absl::InvalidArgumentError(writer.first_error_.message());
    }
  }
  return writer;
}

absl::Status CsvWriter::Write(const ResultRow& row) { return WriteRecord(RowRecord(row)); }

absl::Status CsvWriter::WriteRecord(absl::string_view record) {
  // A record after a broken one would be read as part of it.
  RETURN_IF_ERROR(first_error_);
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size() ||
      std::fflush(file_.get()) != 0) {
    first_error_ = absl::DataLossError(CannotDo("write", path_));
  }
  return first_error_;
}

}  // namespace stridewise
