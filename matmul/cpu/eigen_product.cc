// Compiled several times, with other instruction sets. BUILD renames Eigen's namespace each time
// (-DEigen=Eigen_avx512): else the linker would keep one copy of each template, and might keep one
// that this processor cannot run.

#include "matmul/cpu/eigen_product.h"

#include <Eigen/Core>

namespace stridewise {
namespace {

template <typename T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
void Product(ConstMatrix<T> a, ConstMatrix<T> b, Matrix<T> c) {
  using In = Eigen::Map<const RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
  using Out = Eigen::Map<RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
  const In in_a(a.data, a.rows, a.cols, Eigen::OuterStride<>(a.ld));
  const In in_b(b.data, b.rows, b.cols, Eigen::OuterStride<>(b.ld));
  Out out(c.data, c.rows, c.cols, Eigen::OuterStride<>(c.ld));
  out.noalias() = in_a * in_b;  // noalias: no temporary as large as C.
}

}  // namespace

void STRIDEWISE_EIGEN_FUNCTION(const MatMulArgs& args, int threads) {
  Eigen::setNbThreads(threads);
  if (args.type == ElementType::kFloat) {
    Product(args.A<float>(), args.B<float>(), args.C<float>());
  } else {
    Product(args.A<double>(), args.B<double>(), args.C<double>());
  }
}

}  // namespace stridewise
