// Reads and writes single records of RFC 4180. Programs use csv.h.

#ifndef STRIDEWISE_COMMON_MEASURE_CSV_RECORDS_H_
#define STRIDEWISE_COMMON_MEASURE_CSV_RECORDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stridewise {

using CsvRecord = std::vector<std::string>;

// What follows a record.
enum class CsvEnding {
  kNewline,    // CRLF or LF.
  kEndOfText,  // The end of the text, or a lone CR before it.
  kOpenQuote,  // The end of the text within quotes: the record is incomplete.
};

// Reads the records of a text, which must outlive the reader. Skips a byte order mark.
class CsvRecordReader {
 public:
  explicit CsvRecordReader(absl::string_view text);

  bool AtEnd() const { return position_ == text_.size(); }

  // Return where the next record begins: its offset, and its line from 1 (after kOpenQuote the line
  // of that quote).
  size_t position() const { return position_; }
  int line() const { return line_; }

  // Reads a record into `record`. Returns InvalidArgument, naming the line, for a quote or a
  // carriage return that is not allowed there. REQUIRES: !AtEnd().
  absl::StatusOr<CsvEnding> Next(CsvRecord* record);

 private:
  bool NextIs(char c) const { return !AtEnd() && text_[position_] == c; }
  bool Skip(absl::string_view token);
  bool ReadQuoted(std::string* field);

  absl::string_view text_;
  size_t position_ = 0;
  int line_ = 1;
};

// Returns the record's text with its CRLF. Fields are quoted only where they must be.
std::string FormatCsvRecord(const std::vector<absl::string_view>& fields);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_CSV_RECORDS_H_
