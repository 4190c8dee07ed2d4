#include "common/verify/freivalds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "common/base/parallel_rows.h"
#include "common/verify/checked_products.h"

namespace stridewise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns map(matrix) * x. Reads rows as they are stored.
template <typename T, typename Map>
std::vector<Wide<T>> Multiply(const CheckedOperand<T>& matrix, const std::vector<Wide<T>>& x,
                              Map map) {
  using W = Wide<T>;
  const ConstMatrix<T>& stored = matrix.stored;
  std::vector<W> y(matrix.rows());
  ForRowsInParallel(matrix.rows(), matrix.cols(), [&](int64_t first, int64_t last) {
    if (matrix.transposed) {
      for (int64_t i = 0; i < stored.rows; ++i) {
        for (int64_t j = first; j < last; ++j) y[j] += map(static_cast<W>(stored(i, j))) * x[i];
      }
      return;
    }
    for (int64_t i = first; i < last; ++i) {
      y[i] = SumOfValues<W>(stored.cols,
                            [&](int64_t j) { return map(static_cast<W>(stored(i, j))) * x[j]; });
    }
  });
  return y;
}

template <typename W>
std::vector<W> RandomSigns(int64_t n, std::mt19937_64* random) {
  std::vector<W> signs(n);
  for (W& sign : signs) sign = (*random)() >> 63 ? 1 : -1;
  return signs;
}

// Returns the sums of the squares of C's rows.
template <typename T>
std::vector<Wide<T>> RowSquares(ConstMatrix<T> c) {
  std::vector<Wide<T>> squares(c.rows);
  ForRowsInParallel(c.rows, c.cols, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      squares[i] = SumOfValues<Wide<T>>(c.cols, [&](int64_t j) {
        const auto value = static_cast<Wide<T>>(c(i, j));
        return value * value;
      });
    }
  });
  return squares;
}

// Returns the Frobenius norm of C's finite rows and counts in `error` the entries that are not.
template <typename T>
double ScanEntries(ConstMatrix<T> c, const std::vector<Wide<T>>& row_squares, ProductError* error) {
  double squares = 0;
  for (int64_t i = 0; i < c.rows; ++i) {
    if (std::isfinite(row_squares[i])) {
      squares += static_cast<double>(row_squares[i]);
      continue;
    }
    for (int64_t j = 0; j < c.cols; ++j) {
      if (std::isfinite(static_cast<Wide<T>>(c(i, j)))) continue;
      if (error->non_finite++ == 0) {
        error->worst_row = i;
        error->worst_col = j;
      }
    }
  }
  return std::sqrt(squares);
}

template <typename T>
bool IsZeroRow(ConstMatrix<T> c, int64_t i) {
  for (int64_t j = 0; j < c.cols; ++j) {
    if (!(c(i, j) == 0)) return false;
  }
  return true;
}

}  // namespace

double ResidualTolerance(int64_t k_extent, int64_t cols, const ProductAccuracy& accuracy) {
  const auto k = static_cast<double>(k_extent);
  const auto n = static_cast<double>(cols);
  const double drift = accuracy.toward_zero ? 1 + std::sqrt(k) / 12 : 1;
  const double sums = std::min(k, 16 * drift / std::sqrt(n));
  if (accuracy.operand_unit == 0) return sums;
  const double operands = std::min(2 + accuracy.operand_unit, 16 / std::sqrt(k * n));
  return sums + operands * accuracy.operand_unit / accuracy.unit;
}

template <typename T, typename Out>
ProductError FreivaldsCheck(ConstMatrix<T> stored_a, ConstMatrix<T> stored_b, ConstMatrix<Out> c,
                            uint64_t seed, int rounds, const ProductAccuracy& accuracy,
                            const TransposedOperands& transposed) {
  using W = Wide<T>;
  const CheckedOperand<T> a = {stored_a, transposed.a};
  const CheckedOperand<T> b = {stored_b, transposed.b};
  ProductError error;
  error.exhaustive = false;
  const std::vector<Wide<Out>> row_squares = RowSquares(c);
  const double norm = ScanEntries(c, row_squares, &error);
  const auto identity = [](W value) { return value; };
  const auto abs = [](W value) { return std::abs(value); };

  const std::vector<W> abs_sums = Multiply(a, Multiply(b, std::vector<W>(b.cols(), 1), abs), abs);
  const double scale = ResidualTolerance(a.cols(), b.cols(), accuracy) * accuracy.unit;
  // Roundings of C are a random walk along its row, of steps of at most a unit: 5 sigma.
  const double rounding = 5 * accuracy.output_unit;
  double squares = 0;
  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<W> x = RandomSigns<W>(b.cols(), &random);
    const std::vector<W> want = Multiply(a, Multiply(b, x, identity), identity);
    const auto got =
        Multiply(CheckedOperand<Out>{c}, std::vector<Wide<Out>>(x.begin(), x.end()), identity);
    for (int64_t i = 0; i < c.rows; ++i) {
      const double residual = static_cast<double>(std::abs(got[i] - want[i]));
      squares += residual * residual;
      const double norm_of_row = std::sqrt(static_cast<double>(row_squares[i]));
      const double allowed = rounding == 0 ? 0 : rounding * norm_of_row;
      // Where a row of |A||B| is zero, the random signs must not cancel wrong entries of C.
      const double over_tolerance =
          abs_sums[i] == 0
              ? (IsZeroRow(c, i) ? 0 : kInfinity)
              : OverBound(residual, scale * static_cast<double>(abs_sums[i]) + allowed);
      if (error.worst_residual_row < 0 || over_tolerance > error.max_residual_over_tolerance) {
        error.max_residual_over_tolerance = over_tolerance;
        error.worst_residual_row = i;
      }
    }
  }
  // Over N, the sum of a row of |A||B| squared is at most, and here nearly, its sum of squares.
  double abs_squares = 0;
  for (const W sum : abs_sums) abs_squares += static_cast<double>(sum * sum);
  const double abs_norm = std::sqrt(abs_squares / static_cast<double>(b.cols()));
  SetNormErrors(std::sqrt(squares / rounds), norm, abs_norm, a.cols(), &error);
  return error;
}

template <typename T, typename Out>
ProductError CheckProductFast(ConstMatrix<T> a, ConstMatrix<T> b, ConstMatrix<Out> c, uint64_t seed,
                              const ProductAccuracy& accuracy,
                              const TransposedOperands& transposed) {
  constexpr int kRounds = 2;
  ProductError error = FreivaldsCheck(a, b, c, seed, kRounds, accuracy, transposed);
  if (error.non_finite > 0) {
    error.max_error_over_bound = kInfinity;
    return error;
  }
  const ProductError sampled = SampledEntries(a, b, c, seed, accuracy, transposed);
  error.max_error_over_bound = sampled.max_error_over_bound;
  error.worst_row = sampled.worst_row;
  error.worst_col = sampled.worst_col;
  return error;
}

#define STRIDEWISE_INSTANTIATE(T, Out)                                                             \
  template ProductError FreivaldsCheck(ConstMatrix<T>, ConstMatrix<T>, ConstMatrix<Out>, uint64_t, \
                                       int, const ProductAccuracy&, const TransposedOperands&);    \
  template ProductError CheckProductFast(ConstMatrix<T>, ConstMatrix<T>, ConstMatrix<Out>,         \
                                         uint64_t, const ProductAccuracy&,                         \
                                         const TransposedOperands&);
STRIDEWISE_CHECKED_PRODUCTS(STRIDEWISE_INSTANTIATE)
#undef STRIDEWISE_INSTANTIATE

}  // namespace stridewise
