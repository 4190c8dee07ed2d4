#include "benchmarks/harness/record_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/measure/csv_records.h"

namespace stridewise {
namespace {

std::string CannotWrite(const std::string& path, const std::string& reason) {
  return absl::StrCat("cannot write \"", path, "\": ", reason);
}

}  // namespace

absl::StatusOr<RecordFile> RecordFile::Create(const std::string& path,
                                              const std::vector<std::string>& header,
                                              CsvMode mode) {
  if (path == "-") {
    RecordFile file("standard output", stdout);
    RETURN_IF_ERROR(file.Write(header));
    return file;
  }
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  const bool has_text = regular && std::filesystem::file_size(path, error) > 0;
  const bool append = has_text && mode == CsvMode::kResume;
  if (append) {
    ASSIGN_OR_RETURN(const CsvTable found, ReadCsv(path));
    if (found.header != header) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot resume \"", path, "\": its columns are others"));
    }
  } else if (has_text) {
    std::filesystem::rename(path, path + ".bak", error);
    if (error) return absl::InvalidArgumentError(CannotWrite(path + ".bak", error.message()));
  }
  std::FILE* opened = std::fopen(path.c_str(), append ? "ab" : "wb");
  if (opened == nullptr) return absl::InvalidArgumentError(CannotWrite(path, std::strerror(errno)));
  RecordFile file(path, opened);
  if (!append) RETURN_IF_ERROR(file.Write(header));
  return file;
}

absl::Status RecordFile::Write(const std::vector<std::string>& fields) {
  const std::string record =
      FormatCsvRecord(std::vector<absl::string_view>(fields.begin(), fields.end()));
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) == record.size() &&
      std::fflush(file_.get()) == 0) {
    return absl::OkStatus();
  }
  return absl::DataLossError(CannotWrite(path_, std::strerror(errno)));
}

}  // namespace stridewise
