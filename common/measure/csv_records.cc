#include "common/measure/csv_records.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace stridewise {

CsvRecordReader::CsvRecordReader(absl::string_view text) : text_(text) { Skip("\xEF\xBB\xBF"); }

absl::StatusOr<CsvEnding> CsvRecordReader::Next(CsvRecord* record) {
  record->clear();
  while (true) {
    const bool quoted = NextIs('"');
    std::string& field = record->emplace_back();
    if (quoted) {
      const int first_line = line_;
      if (!ReadQuoted(&field)) {
        line_ = first_line;
        return CsvEnding::kOpenQuote;
      }
    } else {
      const size_t end = std::min(text_.find_first_of(",\"\r\n", position_), text_.size());
      field = std::string(text_.substr(position_, end - position_));
      position_ = end;
    }
    if (Skip(",")) continue;
    if (Skip("\r\n") || Skip("\n")) {
      ++line_;
      return CsvEnding::kNewline;
    }
    if (text_.substr(position_) == "\r") ++position_;
    if (AtEnd()) return CsvEnding::kEndOfText;
    const absl::string_view problem =
        quoted        ? "text after a closing quote (a quote within quotes is written twice)"
        : NextIs('"') ? "a quote within a field that does not begin with one"
                      : "a carriage return without a line feed";
    return absl::InvalidArgumentError(absl::StrCat("line ", line_, ": ", problem));
  }
}

bool CsvRecordReader::Skip(absl::string_view token) {
  if (!absl::StartsWith(text_.substr(position_), token)) return false;
  position_ += token.size();
  return true;
}

// Reads from the opening to the closing quote; false if there is no closing one.
bool CsvRecordReader::ReadQuoted(std::string* field) {
  ++position_;
  while (!AtEnd()) {
    const char c = text_[position_++];
    if (c == '"' && !Skip("\"")) return true;
    if (c == '\n') ++line_;
    field->push_back(c);
  }
  return false;
}

std::string FormatCsvRecord(const std::vector<absl::string_view>& fields) {
  std::string record;
  for (absl::string_view field : fields) {
    if (field.find_first_of(",\"\r\n") == field.npos) {
      absl::StrAppend(&record, field, ",");
    } else {
      absl::StrAppend(&record, "\"", absl::StrReplaceAll(field, {{"\"", "\"\""}}), "\",");
    }
  }
  if (!record.empty()) record.pop_back();
  return record + "\r\n";
}

}  // namespace stridewise
