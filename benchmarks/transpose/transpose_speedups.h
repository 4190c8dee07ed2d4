// What transpose_sweep's rows say when they are held against each other.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_SPEEDUPS_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_SPEEDUPS_H_

#include <string>

#include "absl/types/span.h"
#include "common/measure/result_row.h"

namespace stridewise {

// Sets speedup_vs_previous and, for the device's transposes, speedup_vs_cpu. Both compare median
// kernel times at the same shape, batch and type, and stay empty where there is nothing to compare
// with.
//
// The step before is the nearest earlier one of the registry that has a correct row among `rows`:
// transposes against transposes, those in place and copies each among themselves, host against
// host, and device against device with the same l2. Of its rows, the one with the same block, or
// else with its default block.
void SetTransposeSpeedups(absl::Span<const ResultRow> rows, ResultRow* row);

// A few lines for people: the fastest transpose of the device for each shape, batch and type, and
// the fastest in place, with its share of a copy's speed; the smallest n from which on the GPU is
// faster than the CPU, kernel alone and with copies; and, at the largest shape that all steps
// share, the gain of each over the one before it and over the CPU.
std::string TransposeConclusions(absl::Span<const ResultRow> rows);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_SPEEDUPS_H_
