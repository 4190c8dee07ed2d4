// The definition, writing along rows: loads wait for a cache line each, stores do not.

#include "transpose/registry.h"

namespace stridewise {

LaunchStatus TransposeCpuNaiveCol(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const ConstMatrix<T> in = args.In<T>();
    const Matrix<T> out = args.Out<T>();
    for (int64_t col = 0; col < in.cols; ++col) {
      for (int64_t row = 0; row < in.rows; ++row) out(col, row) = in(row, col);
    }
    return LaunchStatus();
  });
}

}  // namespace stridewise
