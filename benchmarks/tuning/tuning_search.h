// block_search --operation=matmul: measures what `auto` chooses among, fits its thresholds to that
// and writes them as a line for matmul/tuning.inc.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_TUNING_SEARCH_H_
#define STRIDEWISE_BENCHMARKS_TUNING_TUNING_SEARCH_H_

#include <string>

#include "absl/status/statusor.h"
#include "benchmarks/harness/sweep_flags.h"

namespace stridewise {

// The flags' texts; an empty one was not given.
struct TuningSearchFlags {
  std::string sizes;
  std::string shapes;
  std::string types;
  std::string tuning;  // The file for the line; one that is there is kept as .bak.
};

// What is measured and what the table makes of it, for people.
std::string TuningListText();

// Measures, with a CSV row for each shape and implementation, and fits. With --resume and all rows
// in the file nothing is measured, and no GPU is needed. Returns the exit code; where nothing has a
// time, or after Ctrl-C, no line is written. InvalidArgument, naming the flag, before anything is
// measured.
absl::StatusOr<int> RunTuningSearch(const SweepOptions& options, const TuningSearchFlags& flags);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_TUNING_SEARCH_H_
