// What host implementations do for each product of a batch.

#ifndef STRIDEWISE_MATMUL_CPU_SCALE_H_
#define STRIDEWISE_MATMUL_CPU_SCALE_H_

#include <cstdint>

#include "matmul/args.h"
#include "matmul/batch.h"
#include "matmul/cpu/host_product.h"

namespace stridewise {

// Calls fn(T(), arguments) for each product of the batch, T being the element type.
template <typename Fn>
LaunchStatus ForEachProduct(const MatMulArgs& args, Fn fn) {
  return ForElementType(args, [&](auto element) {
    for (int64_t i = 0; i < args.batch; ++i) fn(element, OneOfBatch(args, i));
    return LaunchStatus();
  });
}

// Multiplies C by beta; where beta is 0, C is not read.
template <typename T>
void ScaleByBeta(const MatMulArgs& args) {
  using Scale = ScaleOf<T>;
  const Scale beta = static_cast<Scale>(args.beta);
  const Matrix<T> c = args.C<T>();
  if (beta == 1) return;
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t col = 0; col < c.cols; ++col) {
      T& to = c(row, col);
      to = static_cast<T>(beta == 0 ? Scale{0} : beta * static_cast<Scale>(to));
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_SCALE_H_
