// Factors by which a predicted time is multiplied, for what the prediction does not know: tables
// that are indexed by a few comparisons of features of a call, such as "k < 96" and "fill < 1.4".
// cost_model.h has them for FP32, tensor_corrections.h for tensor cores.

#ifndef STRIDEWISE_MATMUL_FACTOR_TABLE_H_
#define STRIDEWISE_MATMUL_FACTOR_TABLE_H_

#include <algorithm>
#include <cstddef>

namespace stridewise {

// A table of 2^kQuestions factors. Bit i of the index says whether the feature of question i, an
// enumerator, is at least its threshold.
template <typename Feature>
struct FactorTable {
  static constexpr int kQuestions = 4;
  Feature features[kQuestions];
  float thresholds[kQuestions];
  float factors[1 << kQuestions];

  // `values` has one number for each feature.
  float FactorFor(const float* values) const {
    unsigned index = 0;
    for (int i = 0; i < kQuestions; ++i) {
      index |= static_cast<unsigned>(values[static_cast<size_t>(features[i])] >= thresholds[i])
               << i;
    }
    return factors[index];
  }
};

// Returns the product of the factors of some tables, between `least` and `most`.
template <typename Tables>
double ProductOfFactors(const Tables& tables, const float* values, double least, double most) {
  float factor = 1;
  for (const auto& table : tables) factor *= table.FactorFor(values);
  return std::clamp(static_cast<double>(factor), least, most);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_FACTOR_TABLE_H_
