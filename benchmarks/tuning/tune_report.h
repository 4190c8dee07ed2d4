// What stridewise_tune says about a tuning.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_TUNE_REPORT_H_
#define STRIDEWISE_BENCHMARKS_TUNING_TUNE_REPORT_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/tuning/fit_tuning.h"

namespace stridewise {

// The choices of one tuning at some products, and what the table calls them.
using TitledChoices = std::pair<std::string, std::vector<TuneChoice>>;

// Returns the geometric mean of the regrets. REQUIRES: there are choices.
double MeanRegret(absl::Span<const TuneChoice> choices);

// Returns the records of a CSV, the header first, with the distribution of the regret: the time of
// what is chosen over that of the best kernel. There is a record with a workspace and one without
// for each title.
std::vector<std::vector<std::string>> RegretRecords(absl::Span<const TitledChoices> all);

// Returns the same as a table.
std::string RegretTable(absl::Span<const TitledChoices> all);

// Returns a table of the `count` choices with the most regret.
std::string WorstChoices(std::vector<TuneChoice> choices, size_t count);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_TUNE_REPORT_H_
