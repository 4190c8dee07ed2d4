// One multiplication of a batch.

#ifndef STRIDEWISE_MATMUL_BATCH_H_
#define STRIDEWISE_MATMUL_BATCH_H_

#include <cstdint>

#include "matmul/registry.h"

namespace stridewise {

// The same arguments for multiplication `index` alone.
inline MatMulArgs OneOfBatch(const MatMulArgs& args, int64_t index) {
  const int64_t bytes = index * ElementBytes(args.type);
  MatMulArgs one = args;
  one.batch = 1;
  // Not behind a null pointer, which is one of no elements.
  if (args.a != nullptr) one.a = static_cast<const char*>(args.a) + bytes * args.stride_a;
  if (args.b != nullptr) one.b = static_cast<const char*>(args.b) + bytes * args.stride_b;
  if (args.c != nullptr) one.c = static_cast<char*>(args.c) + bytes * args.stride_c;
  return one;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_BATCH_H_
