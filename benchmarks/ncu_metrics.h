// From what Nsight Compute prints to the columns that the studies took from its forerunner, nvprof.
//
//   column                              nvprof                                 ncu
//   load_efficiency                     gld_efficiency                         kLoadEfficiency
//   store_efficiency                    gst_efficiency                         kStoreEfficiency
//   load_transactions                   gld_transactions                       kLoadSectors
//   store_transactions                  gst_transactions                       kStoreSectors
//   shared_load_wavefronts_per_request  shared_load_transactions_per_request   a ratio of two sums
//   shared_store_wavefronts_per_request shared_store_transactions_per_request  a ratio of two sums
//   achieved_occupancy                  achieved_occupancy                     kOccupancy
//   shared_efficiency                   shared_efficiency                      kSharedEfficiency
//   branch_efficiency                   branch_efficiency                      kBranchEfficiency
//
// Efficiencies and the occupancy are percentages, of 100; nvprof had the occupancy of 1.
// Transactions are sectors of 32 bytes.

#ifndef STRIDEWISE_BENCHMARKS_NCU_METRICS_H_
#define STRIDEWISE_BENCHMARKS_NCU_METRICS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/result_row.h"

namespace stridewise {

// One launch of a kernel under ncu.
struct NcuLaunch {
  std::string kernel;                     // As ncu writes it.
  std::map<std::string, double> metrics;  // By ncu's name; what it could not tell is not there.
};

// The value of ncu's --metrics: what SetNcuColumns() wants.
std::string NcuMetrics();

// Reads the output of `ncu --csv --print-units base`, standard error and the program's own lines
// mixed in. Launches are in the order of their IDs' first appearance, at least one.
//
// InvalidArgument where ncu was not permitted to read the counters, with the remedy; Internal, with
// ncu's own words, for its other errors and when it watched no kernel.
absl::StatusOr<std::vector<NcuLaunch>> ParseNcuOutput(absl::string_view output);

// Sets the columns of the memory behaviour and, in base units (ns), kernel_ms_* with one sample.
// Several launches count as one: counts and times are sums, percentages are weighted by what they
// are percentages of. A cell stays empty where a launch lacks the metric and where there is nothing
// to divide by, such as the shared efficiency of a kernel that uses no shared memory.
void SetNcuColumns(absl::Span<const NcuLaunch> launches, ResultRow* row);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_NCU_METRICS_H_
