// Matrix transposes, and the copies that bound them, as an operation of the harness.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_OPERATION_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_OPERATION_H_

#include "absl/types/span.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/preset.h"

namespace stridewise {

const Operation& TransposeOperations();

// The parts of it that are tables.
absl::Span<const Preset> TransposePresets();
absl::Span<const Limit> TransposeLimits();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_OPERATION_H_
