// Operands that are hard for sums of narrower numbers (docs/fp32_split.md), and how far from the
// product the schemes may be for them, on the GPU and in the model of split_model_test.cc.

#ifndef STRIDEWISE_MATMUL_TEST_SPLIT_CASES_H_
#define STRIDEWISE_MATMUL_TEST_SPLIT_CASES_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/verify/fill.h"
#include "matmul/split_choice.h"

namespace stridewise {

constexpr double kSplitRoundoff = 0x1p-24;
// What FP16 and FP8 add to FP32's bound, in roundoffs.
constexpr double kRoundoffsOfFp8 = 2480;
// Pairs of FP16 are multiplied from here on: below the scheme's least k each instruction's sum is
// promoted.
constexpr int64_t kLeastPairK = 37;

inline double UniformValue(uint64_t seed, int64_t index) { return UniformAt<double>(seed, index); }

// Box and Muller's.
inline double NormalValue(uint64_t seed, int64_t index) {
  const double radius = std::sqrt(-2 * std::log((UniformValue(seed, 2 * index) + 1) / 2 + 1e-9));
  return radius * std::cos(M_PI * UniformValue(seed, 2 * index + 1));
}

inline double PositiveValue(uint64_t seed, int64_t index) {
  return (UniformValue(seed, index) + 1) / 2;
}

// (U - 0.5) * exp(phi * N).
template <int kTwicePhi>
double SpreadValue(uint64_t seed, int64_t index) {
  return UniformValue(seed, index) / 2 * std::exp(0.5 * kTwicePhi * NormalValue(seed + 1, index));
}

inline double SpreadElement(uint64_t seed, int64_t index) {
  return std::ldexp(UniformValue(seed, index),
                    static_cast<int>(30 * UniformValue(seed + 1, index)));
}
inline double DenormalValue(uint64_t seed, int64_t index) {
  return 1e-39 * UniformValue(seed, index);
}
inline double HugeValue(uint64_t seed, int64_t index) { return 1e17 * UniformValue(seed, index); }
inline double HalfZeros(uint64_t seed, int64_t index) {
  const double x = NormalValue(seed, index);
  return x > 0 ? x : -0.0;
}
inline double CancellingValue(uint64_t seed, int64_t index) {
  return (index % 2 == 0 ? 1 : -1) * (1 + 1e-3 * UniformValue(seed, index));
}
// Elements that scaling by the largest makes zero; those of A meet those of B.
inline double LostElement(uint64_t seed, int64_t index) {
  const double x = UniformValue(seed, index);
  if (index % 64 == 0) return seed == 1 ? std::ldexp(1.5, 80) : 0;
  return seed == 1 ? std::ldexp(x, -90) : x;
}

struct SplitCase {
  std::string name;
  double (*value)(uint64_t seed, int64_t index);  // Of A with seed 1, of B with seed 11.
  int64_t k;
  // Of ||C - R||_F / ||R||_F: with pairs of FP16, triples of BF16, slices of INT8, and FP16 and
  // FP8.
  double pair_limit = 1, triple_limit = 1, slice_limit = 1, fp8_limit = 1;
  // Multiplies row i of A, or column j of B, by a power of two up to 2^30 and down to 2^-30.
  bool spread_rows = false;
  // B is stored by columns: element k of column j has index j * k_extent + k. Else by rows.
  bool b_by_columns = false;

  // Pairs of TF32 have the bits of FP16's, and, like triples, exponents that FP16 has not. A short
  // k runs in FP32.
  double Tf32Limit() const {
    if (k < kTf32PairForm.least_k) return 1;
    return pair_limit < 1 ? pair_limit : 2 * triple_limit;
  }

  // `split_fused` has pairs of FP16, too, and promotes sums of a short k as it does others.
  double FusedLimit() const { return k < kFp16PairForm.least_k ? 1 : pair_limit; }
};

// The limits lie 15 to 35 % above what is measured, so that a product that is left out, sums that
// are not promoted, or a first part that is truncated show. Truncating the last part changes
// nothing that a sum of products would show.
inline std::vector<SplitCase> SplitCases() {
  return {
      {"uniform", UniformValue, 1000, 2.1e-7, 1.4e-7, 1, 1.1e-5},
      {"uniform_rows_spread", UniformValue, 1000, 4e-7, 4e-7, 1, 1.3e-5, true},
      {"uniform_least_k", UniformValue, 128, 1.45e-7, 8e-8, 1, 1.15e-5},
      {"normal", NormalValue, 1000, 2.1e-7, 1.35e-7, 1, 1.35e-5},
      {"positive", PositiveValue, 1000, 2.4e-7, 1.2e-7, 1, 7e-7},
      {"positive_least_k", PositiveValue, 128, 2.3e-7, 1.15e-7, 1, 1.45e-6},
      {"phi_half", SpreadValue<1>, 1000, 2.1e-7, 1.35e-7, 1, 1.3e-5},
      {"phi_1", SpreadValue<2>, 1000, 2.3e-7, 1.6e-7, 1, 1.4e-5},
      {"phi_2", SpreadValue<4>, 1000, 1, 1.8e-7},
      {"phi_4", SpreadValue<8>, 1000, 1, 1.8e-7},
      {"elements_spread", SpreadElement, 1000},
      {"denormal", DenormalValue, 200},
      {"huge", HugeValue, 1000, 2.1e-7, 1.4e-7, 1, 1.45e-5},
      {"half_zeros", HalfZeros, 1000},
      {"cancelling", CancellingValue, 1000, 1.4e-4, 5e-6, 1, 1.35e-2},
      {"lost", LostElement, 1024, 1, 1, 1, 1, false, true},
      {"k_1", UniformValue, 1},
      {"k_37", UniformValue, 37},
      {"positive_k_65", PositiveValue, 65, 1e-7},
      {"k_66", UniformValue, 66},
      {"k_127", UniformValue, 127},
      {"long", UniformValue, 131072},
      {"uniform_2048", UniformValue, 2048, 1, 1, 4.6e-7, 1.1e-5},
      {"positive_2048", PositiveValue, 2048, 1, 1, 4e-8, 6.5e-7},
      {"normal_4096", NormalValue, 4096, 1, 1, 1e-6, 1.45e-5},
      {"normal_4096_rows_spread", NormalValue, 4096, 1, 1, 1.7e-6, 2.9e-5, true},
      {"phi_half_2048", SpreadValue<1>, 2048, 1, 1, 1, 1.3e-5},
      {"phi_4_2048", SpreadValue<8>, 2048},
      {"lost_2048", LostElement, 2048, 1, 1, 1, 1, false, true},
  };
}

// Returns the names of those cases, of the ones that a model on the host has time for, that `keeps`
// returns false for.
template <typename Keeps>
std::vector<std::string> CasesNotKept(const Keeps& keeps) {
  std::vector<std::string> names;
  for (const SplitCase& split_case : SplitCases()) {
    constexpr int64_t kMostK = 10000;
    if (split_case.k <= kMostK && !keeps(split_case)) names.push_back(split_case.name);
  }
  return names;
}

// Returns the operands of a case, both row-major; B where `b_by_columns` too.
struct SplitOperandsOfCase {
  std::vector<float> a, b;
};
inline SplitOperandsOfCase OperandsOf(const SplitCase& split_case, int64_t rows, int64_t cols) {
  const int64_t k = split_case.k;
  SplitOperandsOfCase of = {std::vector<float>(rows * k), std::vector<float>(k * cols)};
  const auto factor = [&](int64_t i) {
    return split_case.spread_rows ? std::exp2(i * 7 % 61 - 30) : 1;
  };
  for (int64_t i = 0; i < rows * k; ++i) {
    of.a[i] = static_cast<float>(split_case.value(1, i) * factor(i / k));
  }
  for (int64_t i = 0; i < k * cols; ++i) {
    const int64_t row = i / cols;
    const int64_t col = i % cols;
    of.b[i] = static_cast<float>(split_case.value(11, split_case.b_by_columns ? col * k + row : i) *
                                 factor(col));
  }
  return of;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_SPLIT_CASES_H_
