#include "benchmarks/harness/limits_file.h"

#include "absl/flags/flag.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"

ABSL_FLAG(std::string, limits_csv, "",
          "With --preset=limits: a file for the verdicts. One that is there is kept as .bak.");

namespace stridewise {

absl::StatusOr<LimitsFile> LimitsFile::Open(bool has_limits,
                                            const std::vector<std::string>& header) {
  LimitsFile limits;
  const std::string path = ResolvePath(absl::GetFlag(FLAGS_limits_csv));
  if (path.empty()) return limits;
  if (!has_limits) {
    return absl::InvalidArgumentError("--limits_csv: not allowed without --preset=limits");
  }
  ASSIGN_OR_RETURN(limits.file_, RecordFile::Create(path, header, CsvMode::kReplace));
  return limits;
}

absl::Status LimitsFile::Write(const std::vector<std::string>& record) {
  return file_.has_value() ? file_->Write(record) : absl::OkStatus();
}

}  // namespace stridewise
