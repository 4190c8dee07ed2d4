// What a whole program's run on the host executor ends with.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_REPORT_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/profile.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise::executor {

// The launches of one kernel from one line with one geometry.
struct LaunchSummary {
  const void* function = nullptr;  // Null where its template arguments follow from the launch.
  std::string kernel;              // The source before <<<; of a launch by pointer its name.
  std::string place;               // "transpose.cu:57"
  Grid grid;
  Block block;
  size_t shared_bytes = 0;
  uint64_t launches = 0;
  uint64_t left_out = 0;  // Further launches, which were not run: --max_repeats.
  uint64_t findings = 0;
  double seconds = 0;
  Profile profile;  // The sum.
};

// Returns a place in the source as reports name it: "transpose.cu:57", without folders.
std::string PlaceOf(absl::string_view file, int line);

// Returns a table, a row for each summary, with the totals above it.
std::string ReportText(const std::vector<LaunchSummary>& summaries, uint64_t findings);

// Returns the same as CSV.
std::string ReportCsv(const std::vector<LaunchSummary>& summaries);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_REPORT_H_
