// StreamedMatMul() as an entry of the sweeps: operands in host memory, larger than a device's.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_STREAMED_ENTRY_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_STREAMED_ENTRY_H_

#include "matmul/registry.h"

namespace stridewise {

// Takes all that StreamedMatMul() takes, on the current device. Not part of the registry, whose
// entries have their operands where they compute.
const MatMulImplementation& StreamedMatMulEntry();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_STREAMED_ENTRY_H_
