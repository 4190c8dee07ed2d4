// The definition, written down: a dot product for each element of C.

#include "matmul/args.h"
#include "matmul/batch.h"

namespace stridewise {
namespace {

template <typename T>
void CpuNaive(const MatMulArgs& args) {
  const ConstMatrix<T> a = args.A<T>();
  const ConstMatrix<T> b = args.B<T>();
  const Matrix<T> c = args.C<T>();
  const T alpha = static_cast<T>(args.alpha);
  const T beta = static_cast<T>(args.beta);
  const int64_t depth = alpha == 0 ? 0 : args.k;
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t col = 0; col < c.cols; ++col) {
      T sum = 0;
      for (int64_t i = 0; i < depth; ++i) {
        sum += (args.a.transposed ? a(i, row) : a(row, i)) *
               (args.b.transposed ? b(col, i) : b(i, col));
      }
      const T product = depth == 0 ? 0 : alpha * sum;
      c(row, col) = beta == 0 ? product : product + beta * c(row, col);
    }
  }
}

}  // namespace

LaunchStatus MatMulCpuNaive(const MatMulArgs& args) {
  return ForElementType(args, [&](auto element) {
    for (int64_t i = 0; i < args.batch; ++i) CpuNaive<decltype(element)>(OneOfBatch(args, i));
    return LaunchStatus();
  });
}

}  // namespace stridewise
