// Matrices and products for the tests of product checks: random matrices with NaN between their
// rows, views of vectors, and naive products in either order of summation.

#ifndef STRIDEWISE_COMMON_VERIFY_PRODUCT_FIXTURE_H_
#define STRIDEWISE_COMMON_VERIFY_PRODUCT_FIXTURE_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "common/base/matrix.h"

namespace stridewise {

// Returns the matrix of these elements.
template <typename T>
ConstMatrix<T> ViewOf(const std::vector<T>& data, int64_t rows, int64_t cols, int64_t ld = 0) {
  return {data.data(), rows, cols, ld == 0 ? cols : ld};
}

// A matrix that owns its elements. The padding between its rows is NaN, as no one may read it.
template <typename T>
class Owned {
 public:
  Owned(int64_t rows, int64_t cols, int64_t padding)
      : rows_(rows),
        cols_(cols),
        ld_(cols + padding),
        data_(SpanElements(rows, cols, ld_), std::numeric_limits<T>::quiet_NaN()) {}

  T& operator()(int64_t r, int64_t c) { return data_[r * ld_ + c]; }
  const T& operator()(int64_t r, int64_t c) const { return data_[r * ld_ + c]; }
  ConstMatrix<T> view() const { return {data_.data(), rows_, cols_, ld_}; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t ld() const { return ld_; }
  std::vector<T>& data() { return data_; }

 private:
  int64_t rows_, cols_, ld_;
  std::vector<T> data_;
};

// Returns a matrix of U[-1, 1].
template <typename T>
Owned<T> Random(int64_t rows, int64_t cols, int64_t padding, uint32_t seed) {
  Owned<T> matrix(rows, cols, padding);
  std::mt19937 random(seed);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      matrix(r, c) = static_cast<T>(std::ldexp(random(), -31) - 1);
    }
  }
  return matrix;
}

// Returns the sums of step(sum, a, b) over ascending or descending k.
template <typename Acc, typename T, typename Step>
Owned<Acc> Product(const Owned<T>& a, const Owned<T>& b, int64_t k_extent, int64_t padding,
                   bool ascending, Step step) {
  Owned<Acc> c(a.rows(), b.cols(), padding);
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < b.cols(); ++j) {
      Acc sum = 0;
      for (int64_t p = 0; p < k_extent; ++p) {
        const int64_t k = ascending ? p : k_extent - 1 - p;
        sum = step(sum, a(i, k), b(k, j));
      }
      c(i, j) = sum;
    }
  }
  return c;
}

inline float MultiplyAdd(float sum, float a, float b) {
  const volatile float product = a * b;  // Rounded, whatever the compiler may contract.
  return sum + product;
}

inline float FusedMultiplyAdd(float sum, float a, float b) { return std::fmaf(a, b, sum); }

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_VERIFY_PRODUCT_FIXTURE_H_
