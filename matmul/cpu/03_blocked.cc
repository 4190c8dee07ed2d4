// loop_order in blocks: 64 rows of B and 512 columns of it (128 KiB of floats) are read by 64 rows
// of A before the next are fetched, from the L2 cache instead of from memory.

#include <algorithm>

#include "matmul/args.h"
#include "matmul/cpu/scale.h"

namespace stridewise {
namespace {

constexpr int64_t kBlockRows = 64;
constexpr int64_t kBlockCols = 512;
constexpr int64_t kBlockK = 64;

template <typename T>
void Block(const MatMulArgs& args, int64_t row, int64_t col, int64_t k) {
  const ConstMatrix<T> a = args.A<T>();
  const ConstMatrix<T> b = args.B<T>();
  const Matrix<T> c = args.C<T>();
  const T alpha = static_cast<T>(args.alpha);
  const int64_t last_row = std::min(row + kBlockRows, c.rows);
  const int64_t last_col = std::min(col + kBlockCols, c.cols);
  const int64_t last_k = std::min(k + kBlockK, args.k);
  for (int64_t r = row; r < last_row; ++r) {
    for (int64_t i = k; i < last_k; ++i) {
      const T factor = alpha * (args.a.transposed ? a(i, r) : a(r, i));
      for (int64_t j = col; j < last_col; ++j) {
        c(r, j) += factor * (args.b.transposed ? b(j, i) : b(i, j));
      }
    }
  }
}

template <typename T>
void Blocked(const MatMulArgs& args) {
  ScaleByBeta<T>(args);
  if (static_cast<T>(args.alpha) == 0) return;
  for (int64_t col = 0; col < args.n; col += kBlockCols) {
    for (int64_t k = 0; k < args.k; k += kBlockK) {
      for (int64_t row = 0; row < args.m; row += kBlockRows) Block<T>(args, row, col, k);
    }
  }
}

}  // namespace

LaunchStatus MatMulCpuBlocked(const MatMulArgs& args) {
  return ForEachProduct(
      args, [](auto element, const MatMulArgs& one) { Blocked<decltype(element)>(one); });
}

}  // namespace stridewise
