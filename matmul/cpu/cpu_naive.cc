// The definition, written down: a dot product for each element of C.

#include "matmul/registry.h"

namespace stridewise {
namespace {

template <typename T>
void CpuNaive(ConstMatrix<T> a, ConstMatrix<T> b, Matrix<T> c) {
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t col = 0; col < c.cols; ++col) {
      T sum = 0;
      for (int64_t i = 0; i < a.cols; ++i) sum += a(row, i) * b(i, col);
      c(row, col) = sum;
    }
  }
}

}  // namespace

absl::Status MatMulCpuNaive(const MatMulArgs& args) {
  return ForElementType(args, [&](auto element) {
    using T = decltype(element);
    CpuNaive(args.A<T>(), args.B<T>(), args.C<T>());
    return absl::OkStatus();
  });
}

}  // namespace stridewise
