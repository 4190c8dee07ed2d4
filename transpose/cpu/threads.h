// Transposes and copies on the host, on several threads.

#ifndef STRIDEWISE_TRANSPOSE_CPU_THREADS_H_
#define STRIDEWISE_TRANSPOSE_CPU_THREADS_H_

#include "transpose/args.h"

namespace stridewise {

// Transposes a batch out of place with the threads and the stores that are fastest for its size.
LaunchStatus TransposeOnThreads(const TransposeArgs& args);

// Transposes a batch of square matrices in place. REQUIRES: in == out, rows == cols and equal
// leading dimensions and strides.
LaunchStatus TransposeInPlaceOnThreads(const TransposeArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_THREADS_H_
