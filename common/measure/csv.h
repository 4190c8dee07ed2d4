// Reads any CSV file (RFC 4180) and writes the sweeps' result rows.

#ifndef STRIDEWISE_COMMON_MEASURE_CSV_H_
#define STRIDEWISE_COMMON_MEASURE_CSV_H_

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/measure/result_row.h"

namespace stridewise {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // Each has the header's number of fields.
};

// Parses a whole text. Records end with CRLF or LF; the last may also end with the text. A byte
// order mark is skipped. Returns InvalidArgument, naming the line (from 1), for a stray or unclosed
// quote, for a record with more or fewer fields than the header, and for a text without a header.
absl::StatusOr<CsvTable> ParseCsv(absl::string_view text);

// Parses a file; errors name it. Returns NotFound if there is no such file and InvalidArgument if
// it cannot be read.
absl::StatusOr<CsvTable> ReadCsv(const std::string& path);

// What to do with a file that exists already.
enum class CsvMode {
  // Rename it to path + ".bak", over an older one, so that the previous results are not lost. A
  // results file without rows is overwritten.
  kReplace,
  // Keep its rows and append. An incomplete last record, as a killed program leaves it, is removed.
  // A file of an older version, which lacks the last columns, is rewritten with them, empty.
  kResume,
};

// Writes result rows and flushes each before Write() returns, so that the file holds all finished
// rows at any moment.
class CsvWriter {
 public:
  // Opens `path`, or standard output for "-", and writes the header if it is missing. Follows a
  // symbolic link; only regular files are renamed and resumed.
  //
  // Returns InvalidArgument, naming path and reason, if the file cannot be written. With kResume
  // also returns FailedPrecondition, naming the column or line, for a file that this program did
  // not write (which is left unchanged), and InvalidArgument for "-".
  static absl::StatusOr<CsvWriter> Create(const std::string& path, CsvMode mode);

  CsvWriter(CsvWriter&&) = default;
  CsvWriter& operator=(CsvWriter&&) = default;

  // Returns the rows that kResume found.
  const std::vector<ResultRow>& rows_found() const { return rows_found_; }

  // Appends one record. Returns DataLoss, naming the file and the system's reason, if it cannot be
  // written; the file may then end within the record (kResume repairs it), and all later calls fail
  // too.
  absl::Status Write(const ResultRow& row);

 private:
  struct Closer {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };

  CsvWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  absl::Status WriteRecord(absl::string_view record);

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::vector<ResultRow> rows_found_;
  absl::Status first_error_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_CSV_H_
