// Rows of a sweep held against each other: what the speed-ups and conclusions of all sweeps share.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_ROW_COMPARISON_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_ROW_COMPARISON_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/measure/result_row.h"

namespace stridewise {

// The cell's number, or nothing.
std::optional<double> Number(const ResultRow& row, Column column);

// Whether the row has a correct result and a time.
bool IsOk(const ResultRow& row);

// The median. REQUIRES: IsOk(row).
double KernelMs(const ResultRow& row);

// Returns "4096x4096", "64x64 x 4096" for a batch of 4096, "64x64x64 tn beta=0.5" for a product's
// form.
std::string ShapeText(const ResultRow& row);

// Returns the cells that are not empty with an x between them: "4096x4096".
std::string JoinExtents(const ResultRow& row, std::initializer_list<Column> columns);

// Operation, dtype, rows, cols, depth, batch, layout, alpha, beta and workspace are equal.
bool SameProblem(const ResultRow& a, const ResultRow& b);

// Times of one implementation, or of the fastest of several, by n.
using TimeBySize = std::map<int64_t, double>;
void KeepFaster(int64_t n, double ms, TimeBySize* times);

// "Kernel alone: the GPU is faster than the CPU from n = 128 on (10 times at 256).", with a line
// end; `what` is its beginning. n is the first of the last run of sizes at which the GPU wins.
// Empty where the two share no size.
std::string CrossingLine(absl::string_view what, const TimeBySize& gpu, const TimeBySize& cpu);

// A line for each row below a title: implementation, block where there is one and `rate` in `unit`,
// and how much faster it is than the step before it.
std::string StepLines(absl::string_view title, absl::Span<const ResultRow* const> rows, Column rate,
                      absl::string_view unit);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_ROW_COMPARISON_H_
