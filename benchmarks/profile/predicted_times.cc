// Predicts the time of each measured row of result files and writes both side by side, with how
// good the predictions are.
//
//   bazel run //benchmarks/profile:predicted_times --
//   --measured=docs/results/h200/matmul_ladder.csv
//   --csv=predicted_time.csv --distribution_csv=predicted_time_distribution.csv

#include <set>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/operations.h"
#include "benchmarks/profile/predicted_rows.h"
#include "benchmarks/profile/prediction_quality.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

ABSL_FLAG(std::string, measured, "",
          "Comma list of result files: rows of a sweep, or of docs/results/studies.csv.");
ABSL_FLAG(std::string, csv, "predicted_time.csv",
          "A file for the predictions. One that is there is kept as .bak.");
ABSL_FLAG(std::string, distribution_csv, "predicted_time_distribution.csv",
          "A file for how good they are. One that is there is kept as .bak.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "predicted_times: predicts the time of each measured row of result files, and says how good "
    "the predictions are.";

absl::StatusOr<int> RunProgram() {
  const std::string files = absl::GetFlag(FLAGS_measured);
  if (files.empty()) {
    return RefuseValue("--measured", files, "a list of result files");
  }
  std::set<std::string> seen;
  std::vector<PredictedRow> rows;
  for (const absl::string_view path : absl::StrSplit(files, ',')) {
    RETURN_IF_ERROR(AppendPredictions(std::string(path), &seen, &rows));
  }
  RETURN_IF_ERROR(WritePredictions(absl::GetFlag(FLAGS_csv), rows));
  RETURN_IF_ERROR(WritePredictionQuality(absl::GetFlag(FLAGS_distribution_csv), rows));
  return kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram,
                                 stridewise::AxisFlagsOf(stridewise::AllOperations()));
}
