// What Nsight Compute prints, read: the launches that it watched, or its error.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_NCU_OUTPUT_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_NCU_OUTPUT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stridewise {

// One launch of a kernel under ncu.
struct NcuLaunch {
  std::string kernel;                     // As ncu writes it.
  std::map<std::string, double> metrics;  // By ncu's name; what it could not tell is not there.
};

// Reads the output of `ncu --csv --print-units base`, standard error and the program's own lines
// mixed in. Launches are in the order of their IDs' first appearance, at least one.
//
// InvalidArgument where ncu was not permitted to read the counters, with the remedy; Internal, with
// ncu's own words, for its other errors and when it watched no kernel.
absl::StatusOr<std::vector<NcuLaunch>> ParseNcuOutput(absl::string_view output);

// Removes from `metrics` those that an error of ncu's names, and returns whether there were any: a
// GPU of another generation lacks some, and ncu then measures nothing at all.
bool RemoveUnknownMetrics(absl::string_view error, std::vector<std::string>* metrics);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_NCU_OUTPUT_H_
