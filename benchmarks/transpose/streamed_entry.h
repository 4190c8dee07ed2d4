// StreamedTranspose() as an entry of the sweeps: matrices in host memory, larger than a device's.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_STREAMED_ENTRY_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_STREAMED_ENTRY_H_

#include "transpose/registry.h"

namespace stridewise {

// Takes one matrix of any element, on the current device. Not part of the registry, whose entries
// have their matrices where they move them.
const TransposeImplementation& StreamedTransposeEntry();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_STREAMED_ENTRY_H_
