// Corrections of predicted times, found by boosting.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_BOOST_H_
#define STRIDEWISE_BENCHMARKS_TUNING_BOOST_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "matmul/factor_table.h"

namespace stridewise {

// A measured time beside a predicted one.
struct BoostSample {
  std::vector<float> features;
  double error;   // log(measured / predicted).
  double weight;  // How much an error counts.
};

// Returns the weight of a kernel that takes `ratio` times as long as the fastest one.
double WeightOf(double ratio);

struct CorrectionOptions {
  int count = 150;
  double rate = 0.3;
  double damping = 6;  // A part's mean error is trusted by half at this sum of weights.
  int questions = 4;   // Of a table, at most those that it has.
};

// Returns the tables that boosting finds, one after the other: each halves the samples by
// options.questions, the same for all parts, that reduce the squared errors most, and corrects each
// part by its mean error, damped where it has few samples and by a rate below 1. Features have the
// numbers that they have in the samples; questions that were not asked are answered by 0. Fewer
// tables than asked for, where all samples are alike.
std::vector<FactorTable<size_t>> BoostTables(absl::Span<const BoostSample> samples,
                                             const CorrectionOptions& options);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_BOOST_H_
