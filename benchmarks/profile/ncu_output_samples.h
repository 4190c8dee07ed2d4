// Output of Nsight Compute as tests make it: lines around the table, its header, rows of a launch.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_NCU_OUTPUT_SAMPLES_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_NCU_OUTPUT_SAMPLES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace stridewise {

inline constexpr char kNcuBefore[] =
    "==PROF== Connected to process 4242 (/home/me/profile)\n"
    "==PROF== Profiling \"NaiveRow\" - 0: 0%....50%....100% - 9 passes\n"
    "==PROF== Disconnected from process 4242\n";
inline constexpr char kNcuHeader[] =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\","
    "\"Metric Unit\",\"Metric Value\"\n";

using NcuValues = std::vector<std::pair<std::string, std::string>>;

// ncu's rows of a launch, a metric each.
inline std::string NcuRows(int id, const std::string& kernel, const NcuValues& values) {
  std::string text;
  for (const auto& [metric, value] : values) {
    absl::StrAppend(&text, "\"", id, "\",\"4242\",\"profile\",\"127.0.0.1\",\"", kernel,
                    "\",\"1\",\"7\",\"(16, 16, 1)\",\"(32, 32, 1)\",\"0\",\"9.0\","
                    "\"Command line profiler metrics\",\"",
                    metric, "\",\"unit\",\"", value, "\"\n");
  }
  return text;
}

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_NCU_OUTPUT_SAMPLES_H_
