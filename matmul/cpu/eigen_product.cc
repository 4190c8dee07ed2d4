// Compiled several times, with other instruction sets. BUILD renames Eigen's namespace each time
// (-DEigen=Eigen_avx512): else the linker would keep one copy of each template, and might keep one
// that this processor cannot run.

#include "matmul/cpu/eigen_product.h"

#include <Eigen/Core>

#include "matmul/batch.h"

namespace stridewise {
namespace {

template <typename T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename Out, typename A, typename B, typename T>
void AddProduct(const A& a, const B& b, T alpha, Out* out) {
  out->noalias() += alpha * (a * b);  // noalias: no temporary as large as C.
}

template <typename T>
void Product(const MatMulArgs& args) {
  using In = Eigen::Map<const RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
  using Out = Eigen::Map<RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
  const ConstMatrix<T> a = args.A<T>();
  const ConstMatrix<T> b = args.B<T>();
  const Matrix<T> c = args.C<T>();
  const In in_a(a.data, a.rows, a.cols, Eigen::OuterStride<>(a.ld));
  const In in_b(b.data, b.rows, b.cols, Eigen::OuterStride<>(b.ld));
  Out out(c.data, c.rows, c.cols, Eigen::OuterStride<>(c.ld));
  const T alpha = static_cast<T>(args.alpha);
  const T beta = static_cast<T>(args.beta);
  if (beta == 0) {
    out.setZero();
  } else if (beta != 1) {
    out *= beta;
  }
  if (alpha == 0) return;
  if (args.a.transposed) {
    if (args.b.transposed) {
      AddProduct(in_a.transpose(), in_b.transpose(), alpha, &out);
    } else {
      AddProduct(in_a.transpose(), in_b, alpha, &out);
    }
  } else if (args.b.transposed) {
    AddProduct(in_a, in_b.transpose(), alpha, &out);
  } else {
    AddProduct(in_a, in_b, alpha, &out);
  }
}

}  // namespace

void STRIDEWISE_EIGEN_FUNCTION(const MatMulArgs& args, int threads) {
  Eigen::setNbThreads(threads);
  for (int64_t i = 0; i < args.batch; ++i) {
    ForElementType<float, double>(
        args.c.type, [&](auto element) { Product<decltype(element)>(OneOfBatch(args, i)); });
  }
}

}  // namespace stridewise
