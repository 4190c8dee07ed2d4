#include "common/verify/freivalds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "common/base/parallel_rows.h"

namespace stridewise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A type in which sums of T round so little that only T's own rounding matters.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;

// Returns the sum of value(j) for j < n, in four chains: a single one would wait 4 cycles for each
// addition.
template <typename W, typename Value>
W SumOf(int64_t n, Value value) {
  W s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    s0 += value(j);
    s1 += value(j + 1);
    s2 += value(j + 2);
    s3 += value(j + 3);
  }
  for (; j < n; ++j) s0 += value(j);
  return (s0 + s1) + (s2 + s3);
}

// A matrix of the product, as it is stored or its transpose.
template <typename T>
struct View {
  ConstMatrix<T> stored;
  bool transposed = false;

  int64_t rows() const { return transposed ? stored.cols : stored.rows; }
  int64_t cols() const { return transposed ? stored.rows : stored.cols; }
  T operator()(int64_t i, int64_t j) const { return transposed ? stored(j, i) : stored(i, j); }
};

// Returns map(matrix) * x. Reads rows as they are stored.
template <typename T, typename Map>
std::vector<Wide<T>> Multiply(const View<T>& matrix, const std::vector<Wide<T>>& x, Map map) {
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
      y[i] = SumOf<W>(stored.cols,
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
      squares[i] = SumOf<Wide<T>>(c.cols, [&](int64_t j) {
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

// Returns, ascending, the first and the last of 0..size-1 and the indices at the edges of tiles.
std::vector<int64_t> EdgeIndices(int64_t size) {
  std::vector<int64_t> indices;
  for (const int64_t index : {0, 31, 32, 33, 63, 64, 127, 128}) {
    if (index < size - 1) indices.push_back(index);
  }
  if (size > 0) indices.push_back(size - 1);
  return indices;
}

// Compares C(i, j) with its sum over K and keeps it in `error` if it is the worst so far.
template <typename T, typename Out>
void CompareEntry(const View<T>& a, const View<T>& b, ConstMatrix<Out> c, int64_t i, int64_t j,
                  const ProductAccuracy& accuracy, ProductError* error) {
  using W = Wide<T>;
  const auto product = [&](int64_t k) { return static_cast<W>(a(i, k)) * static_cast<W>(b(k, j)); };
  const W want = SumOf<W>(a.cols(), product);
  const W bound = SumOf<W>(a.cols(), [&](int64_t k) { return std::abs(product(k)); });
  const double difference =
      BeyondOutputRounding(static_cast<double>(std::abs(static_cast<W>(c(i, j)) - want)),
                           static_cast<double>(want), accuracy);
  const double scale = static_cast<double>(a.cols()) * accuracy.unit;
  const double over_bound = OverBound(difference, scale * static_cast<double>(bound));
  if (error->worst_row < 0 || over_bound > error->max_error_over_bound) {
    error->max_error_over_bound = over_bound;
    error->worst_row = i;
    error->worst_col = j;
  }
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
  const View<T> a = {stored_a, transposed.a};
  const View<T> b = {stored_b, transposed.b};
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
    const auto got = Multiply(View<Out>{c}, std::vector<Wide<Out>>(x.begin(), x.end()), identity);
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
ProductError SampledEntries(ConstMatrix<T> stored_a, ConstMatrix<T> stored_b, ConstMatrix<Out> c,
                            uint64_t seed, const ProductAccuracy& accuracy,
                            const TransposedOperands& transposed) {
  const View<T> a = {stored_a, transposed.a};
  const View<T> b = {stored_b, transposed.b};
  ProductError error;
  error.exhaustive = false;
  if (c.rows == 0 || c.cols == 0) return error;
  const std::vector<int64_t> edge_cols = EdgeIndices(c.cols);
  for (const int64_t i : EdgeIndices(c.rows)) {
    for (const int64_t j : edge_cols) CompareEntry(a, b, c, i, j, accuracy, &error);
  }
  constexpr int kRandomEntries = 64;
  std::mt19937_64 random(seed);
  for (int entry = 0; entry < kRandomEntries; ++entry) {
    const int64_t i = static_cast<int64_t>(random() % static_cast<uint64_t>(c.rows));
    const int64_t j = static_cast<int64_t>(random() % static_cast<uint64_t>(c.cols));
    CompareEntry(a, b, c, i, j, accuracy, &error);
  }
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
  template ProductError SampledEntries(ConstMatrix<T>, ConstMatrix<T>, ConstMatrix<Out>, uint64_t, \
                                       const ProductAccuracy&, const TransposedOperands&);         \
  template ProductError CheckProductFast(ConstMatrix<T>, ConstMatrix<T>, ConstMatrix<Out>,         \
                                         uint64_t, const ProductAccuracy&,                         \
                                         const TransposedOperands&)
STRIDEWISE_INSTANTIATE(float, float);
STRIDEWISE_INSTANTIATE(double, double);
STRIDEWISE_INSTANTIATE(Bf16, Bf16);
STRIDEWISE_INSTANTIATE(Bf16, float);
STRIDEWISE_INSTANTIATE(Fp16, Fp16);
STRIDEWISE_INSTANTIATE(Fp16, float);
STRIDEWISE_INSTANTIATE(int8_t, int32_t);
STRIDEWISE_INSTANTIATE(int8_t, float);
STRIDEWISE_INSTANTIATE(E4m3, float);
STRIDEWISE_INSTANTIATE(E4m3, Bf16);
STRIDEWISE_INSTANTIATE(E4m3, Fp16);
STRIDEWISE_INSTANTIATE(E5m2, float);
STRIDEWISE_INSTANTIATE(E5m2, Bf16);
STRIDEWISE_INSTANTIATE(E5m2, Fp16);
#undef STRIDEWISE_INSTANTIATE

}  // namespace stridewise
