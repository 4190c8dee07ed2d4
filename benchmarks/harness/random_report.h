// What a sweep of random shapes comes to: how fast the call that chooses a kernel is beside its
// peer, from the usual shape to the worst, and whether a slow shape has a faster kernel of ours.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_RANDOM_REPORT_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_RANDOM_REPORT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/harness/operation.h"
#include "common/measure/result_row.h"

namespace stridewise {

// All three look at the rows of drawn shapes alone, those with a shape_family, and of several
// correct rows of the chooser at one shape take the last. What no family draws and is not as usual
// keeps rows apart, such as workspace=no.
//
// A shape's ratio is the paired one of the row's column for the peer. Its regret is the ratio of
// the fastest kernel that was measured there over that of the chooser. Regrets have a distribution
// where kernels were measured at every shape: those of the worst shapes alone would not tell of
// all.

// Returns a table of distributions and, for each way to judge shapes, one of the `worst` shapes
// with the kernel that was chosen and the fastest one. Empty without drawn shapes.
std::string RandomText(const Operation& operation, const RandomShapes& random,
                       absl::Span<const ResultRow> rows, int worst);

// Returns the distributions as records of a CSV, the header first.
std::vector<std::vector<std::string>> DistributionRecords(const Operation& operation,
                                                          const RandomShapes& random,
                                                          absl::Span<const ResultRow> rows);

// Returns the configurations of random.other_peers at the shapes that were drawn.
std::vector<Config> OtherPeers(const Operation& operation, const RandomShapes& random,
                               absl::Span<const ResultRow> rows);

// Returns the configurations of all kernels that take the `worst` shapes of each table, by shape.
std::vector<Config> KernelsAtWorst(const Operation& operation, const RandomShapes& random,
                                   absl::Span<const ResultRow> rows, int worst);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_RANDOM_REPORT_H_
