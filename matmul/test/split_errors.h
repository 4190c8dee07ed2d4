// How far products of the operands of split_cases.h are from FP64's: for the models of the schemes,
// and for the kernels on a GPU and on the host executor.

#ifndef STRIDEWISE_MATMUL_TEST_SPLIT_ERRORS_H_
#define STRIDEWISE_MATMUL_TEST_SPLIT_ERRORS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "matmul/test/split_cases.h"

namespace stridewise {

// Returns the rows of A, or the columns of B, each as a vector of k elements.
inline std::vector<std::vector<float>> RowsOfA(const SplitOperandsOfCase& of, int64_t rows) {
  const auto k = static_cast<int64_t>(of.a.size()) / rows;
  std::vector<std::vector<float>> vectors;
  for (int64_t i = 0; i < rows; ++i) {
    vectors.emplace_back(of.a.begin() + i * k, of.a.begin() + (i + 1) * k);
  }
  return vectors;
}
inline std::vector<std::vector<float>> ColsOfB(const SplitOperandsOfCase& of, int64_t cols) {
  const auto k = static_cast<int64_t>(of.b.size()) / cols;
  std::vector<std::vector<float>> vectors(cols, std::vector<float>(k));
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t e = 0; e < k; ++e) vectors[j][e] = of.b[e * cols + j];
  }
  return vectors;
}

// A dot product in FP64, that of absolute values, and as FP32 units compute it.
struct SplitDots {
  double r = 0, s = 0;
  float in_fp32 = 0;
};
inline SplitDots DotsOf(const std::vector<float>& x, const std::vector<float>& y) {
  SplitDots dots;
  for (size_t e = 0; e < x.size(); ++e) {
    const double product = double{x[e]} * y[e];
    dots.r += product;
    dots.s += std::abs(product);
    dots.in_fp32 = std::fma(x[e], y[e], dots.in_fp32);
  }
  return dots;
}

// The errors of a product's elements.
class SplitErrors {
 public:
  // `bound` is that of an element, in roundoffs of FP32 times the sum of absolute products.
  explicit SplitErrors(double bound) : bound_(bound) {}

  // Adds an element that should be `r`. Returns whether it keeps the bound; NaN does not.
  bool Add(double c, double r, double s) {
    const double error = std::abs(c - r);
    // Below FP32's range there are no digits.
    const double most = bound_ * kSplitRoundoff * s + std::numeric_limits<float>::denorm_min();
    constexpr double kBeyond = 2;
    of_bound_ = std::max(of_bound_, std::isnan(error) ? kBeyond : error / most);
    errors_ += error * error;
    squares_ += r * r;
    return error <= most;
  }

  double of_bound() const { return of_bound_; }  // The greatest error, over its bound.
  double relative() const { return std::sqrt(errors_ / squares_); }  // ||C - R||_F / ||R||_F.
  bool Keeps(double limit) const { return of_bound_ <= 1 && relative() <= limit; }

 private:
  double bound_;
  double of_bound_ = 0;
  double errors_ = 0, squares_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_SPLIT_ERRORS_H_
