// The same three loops in another order: the innermost runs along rows of B and C, so that each
// cache line that is fetched is used whole and the compiler can vectorise.

#include "matmul/args.h"
#include "matmul/cpu/scale.h"

namespace stridewise {
namespace {

template <typename T>
void LoopOrder(const MatMulArgs& args) {
  const ConstMatrix<T> a = args.A<T>();
  const ConstMatrix<T> b = args.B<T>();
  const Matrix<T> c = args.C<T>();
  const T alpha = static_cast<T>(args.alpha);
  ScaleByBeta<T>(args);
  for (int64_t row = 0; row < c.rows && alpha != 0; ++row) {
    for (int64_t i = 0; i < args.k; ++i) {
      const T factor = alpha * (args.a.transposed ? a(i, row) : a(row, i));
      for (int64_t col = 0; col < c.cols; ++col) {
        c(row, col) += factor * (args.b.transposed ? b(col, i) : b(i, col));
      }
    }
  }
}

}  // namespace

LaunchStatus MatMulCpuLoopOrder(const MatMulArgs& args) {
  return ForEachProduct(
      args, [](auto element, const MatMulArgs& one) { LoopOrder<decltype(element)>(one); });
}

}  // namespace stridewise
