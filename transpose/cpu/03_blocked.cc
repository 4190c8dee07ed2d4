// naive_col in blocks: the cache lines of a block stay in the cache until all of each is used.

#include <algorithm>

#include "transpose/registry.h"

namespace stridewise {
namespace {

// Two blocks of floats take 8 KB, a quarter of a usual L1.
constexpr int64_t kBlock = 32;

}  // namespace

LaunchStatus TransposeCpuBlocked(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const ConstMatrix<T> in = args.In<T>();
    const Matrix<T> out = args.Out<T>();
    for (int64_t first_row = 0; first_row < in.rows; first_row += kBlock) {
      const int64_t end_row = std::min(first_row + kBlock, in.rows);
      for (int64_t first_col = 0; first_col < in.cols; first_col += kBlock) {
        const int64_t end_col = std::min(first_col + kBlock, in.cols);
        for (int64_t col = first_col; col < end_col; ++col) {
          for (int64_t row = first_row; row < end_row; ++row) out(col, row) = in(row, col);
        }
      }
    }
    return LaunchStatus();
  });
}

}  // namespace stridewise
