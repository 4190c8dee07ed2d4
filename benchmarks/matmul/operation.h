// Matrix multiplication, C = alpha * op(A) * op(B) + beta * C, as an operation of the harness.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_OPERATION_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_OPERATION_H_

#include "absl/types/span.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/preset.h"

namespace stridewise {

const Operation& MatMulOperation();

// The parts of it that are tables.
absl::Span<const Preset> MatMulPresets();
absl::Span<const Limit> MatMulLimits();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_OPERATION_H_
