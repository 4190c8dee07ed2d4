// The definition, reading along rows: each store opens another cache line.

#include "transpose/registry.h"

namespace stridewise {

LaunchStatus TransposeCpuNaiveRow(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const ConstMatrix<T> in = args.In<T>();
    const Matrix<T> out = args.Out<T>();
    for (int64_t row = 0; row < in.rows; ++row) {
      for (int64_t col = 0; col < in.cols; ++col) out(col, row) = in(row, col);
    }
    return LaunchStatus();
  });
}

}  // namespace stridewise
