// Arguments of transposes that tests choose for and do not run: nothing is at their addresses.

#ifndef STRIDEWISE_TRANSPOSE_TEST_UNUSED_ARGS_H_
#define STRIDEWISE_TRANSPOSE_TEST_UNUSED_ARGS_H_

#include <cstdint>

#include "transpose/registry.h"

namespace stridewise {

// An address that is looked at and never used.
inline const void* At(uintptr_t address) {
  return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Returns matrices without gaps at multiples of 256.
inline TransposeArgs Gapless(int64_t rows, int64_t cols, int64_t element_bytes, int64_t batch = 1) {
  TransposeArgs args;
  args.rows = rows;
  args.cols = cols;
  args.element_bytes = element_bytes;
  args.in = At(0x10000000);
  args.ld_in = cols;
  args.out = const_cast<void*>(At(0x20000000));
  args.ld_out = rows;
  args.batch = batch;
  args.stride_in = args.stride_out = rows * cols;
  return args;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_UNUSED_ARGS_H_
