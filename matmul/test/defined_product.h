// The product that a problem asks for, by its definition: what tests compare results with that come
// from kernels, and from Eigen's and cuBLAS's FP64 products.

#ifndef STRIDEWISE_MATMUL_TEST_DEFINED_PRODUCT_H_
#define STRIDEWISE_MATMUL_TEST_DEFINED_PRODUCT_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "common/base/matrix.h"
#include "common/base/parallel_rows.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/registry.h"

namespace stridewise {

// FP8 products with a scale for each block have blocks of this much of k, and of as many columns of
// B.
inline constexpr int64_t kBlockOfScales = 128;

// Returns the number of scales of A, or of B, where the product has any.
inline int64_t ScalesOfA(const MatMulArgs& args) {
  return args.scales.per_128 ? args.m * CeilDiv(args.k, kBlockOfScales) : 1;
}
inline int64_t ScalesOfB(const MatMulArgs& args) {
  return args.scales.per_128 ? CeilDiv(args.n, kBlockOfScales) * CeilDiv(args.k, kBlockOfScales)
                             : 1;
}

namespace internal {

// Returns rows x cols of `at(row, col)`, without gaps between the rows.
template <typename Fn>
std::vector<double> Widened(int64_t rows, int64_t cols, Fn at) {
  std::vector<double> wide(static_cast<size_t>(rows * cols));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) wide[row * cols + col] = at(row, col);
  }
  return wide;
}

// Applies the epilogue to an element of column `col`, and to the sum of its magnitudes.
template <typename Out>
void FinishDefined(const MatMulArgs& args, int64_t col, double* r, double* s) {
  if (args.epilogue.bias != nullptr) {
    const auto bias = static_cast<double>(static_cast<const Out*>(args.epilogue.bias)[col]);
    *r += bias;
    *s += std::abs(bias);
  }
  if (args.epilogue.activation == Activation::kRelu) *r = std::max(*r, 0.0);
  if (args.epilogue.activation == Activation::kGelu) {
    *r *= 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (*r + 0.044715 * *r * *r * *r)));
    *s *= 1.13;  // The slope of GELU is below that.
  }
  if (args.epilogue.activation == Activation::kGeluErf) {
    *r *= 0.5 * (1 + std::erf(*r / std::sqrt(2.0)));
    *s *= 1.13;  // The same.
  }
}

}  // namespace internal

// Sets r and s to what ReferenceProducts() of matmul/reference.h does, for scales of operands too,
// by the three loops of the definition. T, OfB and Out are the types of A, B and C.
//
// The loops run over copies in FP64 that have alpha and the scales in them: that over a row's
// columns is then one that the compiler vectorizes, which the tests of thousands of cases need.
// Rows of large products are computed in parallel.
template <typename T, typename OfB, typename Out>
void DefineProduct(const MatMulArgs& args, const Matrix<double>& r, const Matrix<double>& s) {
  using Scale = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const ConstMatrix<T> a = args.A<T>();
  const ConstMatrix<OfB> b = args.B<OfB>();
  const MatMulScales& scales = args.scales;
  const double alpha = static_cast<Scale>(args.alpha);
  const double beta = static_cast<Scale>(args.beta);
  const int64_t k = alpha == 0 ? 0 : args.k;
  const std::vector<double> wide_a = internal::Widened(args.m, k, [&](int64_t row, int64_t i) {
    const int64_t of_a =
        scales.per_128 ? row * CeilDiv(args.k, kBlockOfScales) + i / kBlockOfScales : 0;
    return alpha * static_cast<double>(args.a.transposed ? a(i, row) : a(row, i)) *
           (scales.a == nullptr ? 1.0 : scales.a[of_a]);
  });
  const std::vector<double> wide_b = internal::Widened(k, args.n, [&](int64_t i, int64_t col) {
    const int64_t of_b =
        scales.per_128 ? i / kBlockOfScales * CeilDiv(args.n, kBlockOfScales) + col / kBlockOfScales
                       : 0;
    return static_cast<double>(args.b.transposed ? b(col, i) : b(i, col)) *
           (scales.b == nullptr ? 1.0 : scales.b[of_b]);
  });
  ForRowsInParallel(args.m, args.n * std::max<int64_t>(k, 1), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      double* const sums = r.data + row * r.ld;
      double* const magnitudes = s.data + row * s.ld;
      for (int64_t col = 0; col < args.n; ++col) {
        sums[col] = beta == 0 ? 0 : beta * static_cast<double>(args.C<Out>()(row, col));
        magnitudes[col] = std::abs(sums[col]);
      }
      for (int64_t i = 0; i < k; ++i) {
        const double x = wide_a[row * k + i];
        const double* const of_b = wide_b.data() + i * args.n;
        for (int64_t col = 0; col < args.n; ++col) {
          sums[col] += x * of_b[col];
          magnitudes[col] += std::abs(x * of_b[col]);
        }
      }
      for (int64_t col = 0; col < args.n; ++col) {
        internal::FinishDefined<Out>(args, col, &r(row, col), &s(row, col));
      }
    }
  });
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_DEFINED_PRODUCT_H_
