// Measures which kernel is the fastest for a call, for plans.

#ifndef STRIDEWISE_MATMUL_MEASURE_PLAN_H_
#define STRIDEWISE_MATMUL_MEASURE_PLAN_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "matmul/registry.h"

namespace stridewise {

struct MeasuredMatMul {
  size_t number = 0;  // Of the kernel, in the list.
  double us = 0;      // The median.
};

// Runs the kernels in turn, `samples` times each behind one run that is not counted, on matrices of
// its own that are as large and as aligned as those of `args`, with the workspace that each asks
// for, at most args.workspace_bytes. Waits for the stream. REQUIRES: the device is current, C has
// elements, all kernels take the call, and there is at least one.
absl::StatusOr<MeasuredMatMul> FastestMatMul(const MatMulArgs& args,
                                             absl::Span<const MatMulImplementation* const> kernels,
                                             int samples);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_MEASURE_PLAN_H_
