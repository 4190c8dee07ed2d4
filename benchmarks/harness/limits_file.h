// --limits_csv: where a sweep with limits leaves its verdicts.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_LIMITS_FILE_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_LIMITS_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/record_file.h"

namespace stridewise {

class LimitsFile {
 public:
  // Opens the file that the flag names; one that is there is kept as .bak. Without the flag there
  // is none, and nothing will be written. InvalidArgument where the flag was given and the preset
  // has no limits, or the file cannot be written.
  static absl::StatusOr<LimitsFile> Open(bool has_limits, const std::vector<std::string>& header);

  absl::Status Write(const std::vector<std::string>& record);

 private:
  std::optional<RecordFile> file_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_LIMITS_FILE_H_
