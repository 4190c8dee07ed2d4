// One multiplication of a batch.

#ifndef STRIDEWISE_MATMUL_BATCH_H_
#define STRIDEWISE_MATMUL_BATCH_H_

#include <cstdint>

#include "matmul/args.h"

namespace stridewise {

// Returns the same arguments for multiplication `index` alone.
inline MatMulArgs OneOfBatch(const MatMulArgs& args, int64_t index) {
  MatMulArgs one = args;
  one.batch = 1;
  one.a = Advanced(args.a, index * args.a.stride);
  one.b = Advanced(args.b, index * args.b.stride);
  one.c = Advanced(args.c, index * args.c.stride);
  return one;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_BATCH_H_
