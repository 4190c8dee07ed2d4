// What a sweep's rows say when they are compared with each other.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_SPEEDUPS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_SPEEDUPS_H_

#include <string>

#include "absl/types/span.h"
#include "benchmarks/harness/operation.h"
#include "common/measure/result_row.h"

namespace stridewise {

// Sets speedup_vs_previous, for steps of the ladder, and speedup_vs_cpu, for device rows. Both
// compare median kernel times of correct rows of the same problem, and stay empty where there is
// nothing to compare with.
//
// The previous step is the nearest lower one that has a correct row among `rows`: host against
// host, device against device with the same l2. Of its rows, the one with the same block counts, or
// else the one with its default block. The CPU is the fastest host implementation.
void SetSpeedups(const Operation& operation, absl::Span<const ResultRow> rows, ResultRow* row);

// Returns a few lines for people: the fastest implementation of the device for each problem; the
// smallest n from which on the GPU is faster than the CPU, kernel alone and with copies; and, for
// the problem that most steps of the ladder share, the gain of each over the one before it and
// over the CPU.
std::string Conclusions(const Operation& operation, absl::Span<const ResultRow> rows);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_SPEEDUPS_H_
