// RFC 4180 files: a reader for any, and the writer of the sweeps' result rows.

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
  std::vector<std::vector<std::string>> rows;  // Each with as many fields as the header.
};

// Reads a whole text. Records end with CRLF or LF, the last one also with the text; a byte order
// mark is passed over. InvalidArgument, naming the line (from 1), for a stray or unclosed quote and
// for a record with more or fewer fields than the header, and for a text with no header.
absl::StatusOr<CsvTable> ParseCsv(absl::string_view text);

// ParseCsv() of a file's contents; errors name the file too. NotFound if there is no such file,
// InvalidArgument if it cannot be read.
absl::StatusOr<CsvTable> ReadCsv(const std::string& path);

// What to do with a file that is there already.
enum class CsvMode {
  // Rename it to path + ".bak", over an older one, so that what was measured last is not lost. A
  // file
  // of ours without rows is not worth a .bak and is overwritten.
  kReplace,
  // Keep its rows and append. A last record that is not complete, as a killed program leaves it, is
  // cut off the file. An older version's file, which lacks our last columns, is first written anew
  // with them, empty.
  kResume,
};

// Writes result rows, each flushed before Write() returns, so that the file holds all finished rows
// at any moment.
class CsvWriter {
 public:
  // Opens `path`, or standard output for "-", and writes the header where it is not there yet. A
  // symbolic link is followed; only regular files are renamed and resumed.
  //
  // InvalidArgument, naming path and reason, if it cannot be written. With kResume also
  // FailedPrecondition, naming the column or line, when the file is not ours to continue (it stays
  // as it was), and InvalidArgument for "-".
  static absl::StatusOr<CsvWriter> Create(const std::string& path, CsvMode mode);

  CsvWriter(CsvWriter&&) = default;
  CsvWriter& operator=(CsvWriter&&) = default;

  // The rows that kResume found.
  const std::vector<ResultRow>& rows_found() const { return rows_found_; }

  // Appends one record. DataLoss, naming the file and the system's reason, when it cannot be
  // written; the file then may end within the record (kResume mends it), and all later calls fail
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
