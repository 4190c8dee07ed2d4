#include "benchmarks/matmul/matmul_speedups.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/row_comparison.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

// Null for a row that this program does not know, from another version's file.
const MatMulImplementation* ImplementationOf(const ResultRow& row) {
  return FindMatMulImplementation(row.Get(Column::kImplementation));
}

// n of a square float product, one and no more, or nothing.
std::optional<int64_t> SquareSize(const ResultRow& row) {
  int64_t n = 0;
  for (const Column column : {Column::kBatch, Column::kLayout, Column::kAlpha, Column::kBeta}) {
    if (!row.Get(column).empty()) return std::nullopt;
  }
  if (row.Get(Column::kDtype) != "float" || row.Get(Column::kRows) != row.Get(Column::kCols) ||
      row.Get(Column::kRows) != row.Get(Column::kDepth) ||
      !absl::SimpleAtoi(row.Get(Column::kRows), &n)) {
    return std::nullopt;
  }
  return n;
}

// The steps of the ladder at the largest n that has most of them.
std::string Steps(absl::Span<const ResultRow> rows) {
  std::map<int64_t, std::vector<const ResultRow*>> by_size;
  for (const ResultRow& row : rows) {
    const std::optional<int64_t> n = SquareSize(row);
    const MatMulImplementation* implementation = ImplementationOf(row);
    if (n.has_value() && IsOk(row) && implementation != nullptr &&
        implementation->target.where == Where::kDevice) {
      by_size[*n].push_back(&row);
    }
  }
  const std::pair<const int64_t, std::vector<const ResultRow*>>* best = nullptr;
  for (const auto& entry : by_size) {
    if (entry.second.size() > 1 &&
        (best == nullptr || entry.second.size() >= best->second.size())) {
      best = &entry;
    }
  }
  if (best == nullptr) return "";
  return StepLines(absl::StrCat("Steps at n = ", best->first), best->second, Column::kGflops,
                   "GFLOP/s");
}

}  // namespace

void SetSpeedups(absl::Span<const ResultRow> rows, ResultRow* row) {
  const MatMulImplementation* own = ImplementationOf(*row);
  if (own == nullptr || !IsOk(*row)) return;
  const MatMulImplementation* previous = nullptr;
  double previous_ms = 0;
  double cpu_ms = std::numeric_limits<double>::infinity();
  for (const ResultRow& other : rows) {
    const MatMulImplementation* implementation = ImplementationOf(other);
    if (implementation == nullptr || !SameProblem(*row, other) || !IsOk(other)) continue;
    if (implementation->target.where == Where::kHost) cpu_ms = std::min(cpu_ms, KernelMs(other));
    // Registry entries lie in one array, in the order of the ladder.
    if (implementation->target.where == own->target.where && implementation < own &&
        (previous == nullptr || implementation > previous)) {
      previous = implementation;
      previous_ms = KernelMs(other);
    }
  }
  if (previous != nullptr) row->Set(Column::kSpeedupVsPrevious, previous_ms / KernelMs(*row));
  // Infinite, and so left empty, where no host row is there.
  if (own->target.where == Where::kDevice) row->Set(Column::kSpeedupVsCpu, cpu_ms / KernelMs(*row));
}

std::string MatMulConclusions(absl::Span<const ResultRow> rows) {
  TimeBySize gpu_kernel;
  TimeBySize gpu_total;
  TimeBySize cpu;
  for (const ResultRow& row : rows) {
    const std::optional<int64_t> n = SquareSize(row);
    const MatMulImplementation* implementation = ImplementationOf(row);
    if (!n.has_value() || implementation == nullptr || !IsOk(row)) continue;
    if (implementation->target.where == Where::kHost) {
      KeepFaster(*n, KernelMs(row), &cpu);
      continue;
    }
    KeepFaster(*n, KernelMs(row), &gpu_kernel);
    const std::optional<double> total_ms = Number(row, Column::kTotalMs);
    if (total_ms.has_value()) KeepFaster(*n, *total_ms, &gpu_total);
  }
  return absl::StrCat(CrossingLine("Kernel alone", gpu_kernel, cpu),
                      CrossingLine("With allocation and copies", gpu_total, cpu), Steps(rows));
}

}  // namespace stridewise
