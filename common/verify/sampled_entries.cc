#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "common/verify/checked_products.h"
#include "common/verify/freivalds.h"

namespace stridewise {
namespace {

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
void CompareEntry(const CheckedOperand<T>& a, const CheckedOperand<T>& b, ConstMatrix<Out> c,
                  int64_t i, int64_t j, const ProductAccuracy& accuracy, ProductError* error) {
  using W = Wide<T>;
  const auto product = [&](int64_t k) { return static_cast<W>(a(i, k)) * static_cast<W>(b(k, j)); };
  const W want = SumOfValues<W>(a.cols(), product);
  const W bound = SumOfValues<W>(a.cols(), [&](int64_t k) { return std::abs(product(k)); });
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

template <typename T, typename Out>
ProductError SampledEntries(ConstMatrix<T> stored_a, ConstMatrix<T> stored_b, ConstMatrix<Out> c,
                            uint64_t seed, const ProductAccuracy& accuracy,
                            const TransposedOperands& transposed) {
  const CheckedOperand<T> a = {stored_a, transposed.a};
  const CheckedOperand<T> b = {stored_b, transposed.b};
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

#define STRIDEWISE_INSTANTIATE(T, Out)                                                             \
  template ProductError SampledEntries(ConstMatrix<T>, ConstMatrix<T>, ConstMatrix<Out>, uint64_t, \
                                       const ProductAccuracy&, const TransposedOperands&);
STRIDEWISE_CHECKED_PRODUCTS(STRIDEWISE_INSTANTIATE)
#undef STRIDEWISE_INSTANTIATE

}  // namespace stridewise
