// What a whole program's run on the host executor ends with.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_REPORT_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/profile.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise::executor {

// The launches of one kernel from one line with one geometry.
struct LaunchSummary {
  const void* function = nullptr;  // Null where its template arguments follow from the launch.
  std::string kernel;              // The source before <<<; through a pointer the function's name.
  std::string place;               // "transpose.cu:57"
  Grid grid;
  Block block;
  size_t shared_bytes = 0;
  uint64_t launches = 0;
  uint64_t left_out = 0;  // Further launches, which were not run: --max_repeats.
  // Which of the program's launches they are, from 0 on: runs of neighbours, first and last, those
  // that were left out included.
  std::vector<std::pair<uint64_t, uint64_t>> order;
  uint64_t findings = 0;
  double seconds = 0;
  Profile profile;  // The sum.
};

// Notes that the launch `index` is one of these.
void AddToOrder(uint64_t index, LaunchSummary* summary);

// Whether `name`, as the source has it before <<<, is that of the function `kernel`, and not of a
// pointer to it: "ns::Kernel<float>" of "Kernel<float>".
bool NamesKernel(absl::string_view name, absl::string_view kernel);

// Returns a place in the source as reports name it: "transpose.cu:57", without folders.
std::string PlaceOf(absl::string_view file, int line);

// Returns a table, a row for each summary, with the totals above it.
std::string ReportText(const std::vector<LaunchSummary>& summaries, uint64_t findings);

// Returns the same as CSV.
std::string ReportCsv(const std::vector<LaunchSummary>& summaries);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_REPORT_H_
