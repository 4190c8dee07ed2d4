// The output of a call as the kernels of tensor cores take it.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_OUTPUT_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_OUTPUT_H_

#include <cstdint>
#include <utility>

#include "matmul/args.h"
#include "matmul/device/tensor/epilogue.h"

namespace stridewise {

inline TensorOutput OutputOf(const MatMulArgs& args) {
  constexpr int64_t kVector = 4;
  TensorOutput c = {};
  c.rows = args.m;
  c.cols = args.n;
  c.data = args.c.data;
  c.ld = args.c.ld;
  c.stride = args.c.stride;
  c.vectors =
      reinterpret_cast<uintptr_t>(args.c.data) % (kVector * ElementBytes(args.c.type)) == 0 &&
      args.c.ld % kVector == 0 && (args.batch == 1 || args.c.stride % kVector == 0);
  // Without products an infinite alpha would make NaNs of sums that are 0.
  c.alpha = args.k == 0 ? 0 : static_cast<float>(args.alpha);
  c.beta = static_cast<float>(args.beta);
  c.bias = args.epilogue.bias;
  c.activation = args.epilogue.activation;
  c.only_alpha = c.beta == 0 && c.bias == nullptr && c.activation == Activation::kNone;
  return c;
}

// A call whose tiles are those of C or of its transpose, op(B)^T * op(A)^T.
struct CallOfTiles {
  MatMulArgs args;  // Its m, n, A and B are those of the tiles, its C is that of the caller.
  TensorOutput c;

  CallOfTiles(const MatMulArgs& call, bool transposed) : args(call), c(OutputOf(call)) {
    c.transposed = transposed;
    if (!transposed) return;
    std::swap(args.m, args.n);
    std::swap(args.a, args.b);
    args.a.transposed = !args.a.transposed;
    args.b.transposed = !args.b.transposed;
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_OUTPUT_H_
