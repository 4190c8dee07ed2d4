// What rows say when they are held against each other: speed-ups, and the two conclusions of a
// sweep.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_SPEEDUPS_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_SPEEDUPS_H_

#include <string>

#include "absl/types/span.h"
#include "common/measure/result_row.h"

namespace stridewise {

// Sets speedup_vs_previous, over the step before it in the registry among `rows` (host steps
// against host ones, device against device), and, for device rows, speedup_vs_cpu, over the fastest
// host implementation. Both compare median kernel times of the same problem, and stay empty
// where there is nothing to compare with.
void SetSpeedups(absl::Span<const ResultRow> rows, ResultRow* row);

// A few lines for people: the smallest n from which on the GPU is faster than the CPU, kernel alone
// and with copies, and the gain of each step at the largest size that all share. Square float
// products A * B only.
std::string MatMulConclusions(absl::Span<const ResultRow> rows);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_SPEEDUPS_H_
