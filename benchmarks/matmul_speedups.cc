#include "benchmarks/matmul_speedups.h"

#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "matmul/matmul.h"

namespace stridewise {
namespace {

std::optional<double> Number(const ResultRow& row, Column column) {
  double value = 0;
  if (!absl::SimpleAtod(row.Get(column), &value)) return std::nullopt;
  return value;
}

bool IsOk(const ResultRow& row) {
  return row.Get(Column::kStatus) == RowStatusName(RowStatus::kOk) &&
         Number(row, Column::kKernelMsMedian).value_or(0) > 0;
}

bool SameProblem(const ResultRow& a, const ResultRow& b) {
  for (const Column column :
       {Column::kOperation, Column::kDtype, Column::kRows, Column::kCols, Column::kDepth}) {
    if (a.Get(column) != b.Get(column)) return false;
  }
  return true;
}

// Null for a row that this program does not know, from another version's file.
const MatMulImplementation* ImplementationOf(const ResultRow& row) {
  return FindMatMulImplementation(row.Get(Column::kImplementation));
}

double KernelMs(const ResultRow& row) { return *Number(row, Column::kKernelMsMedian); }

// Times of one implementation, or of the fastest of several, by n.
using TimeBySize = std::map<int64_t, double>;

void KeepFaster(int64_t n, double ms, TimeBySize* times) {
  const auto [place, inserted] = times->emplace(n, ms);
  if (!inserted && ms < place->second) place->second = ms;
}

// n of a square float product, or nothing.
std::optional<int64_t> SquareSize(const ResultRow& row) {
  int64_t n = 0;
  if (row.Get(Column::kDtype) != "float" || row.Get(Column::kRows) != row.Get(Column::kCols) ||
      row.Get(Column::kRows) != row.Get(Column::kDepth) ||
      !absl::SimpleAtoi(row.Get(Column::kRows), &n)) {
    return std::nullopt;
  }
  return n;
}

// Three digits, and no exponent.
std::string Times(double ratio) {
  return ratio < 1000 ? absl::StrFormat("%.3g", ratio) : absl::StrFormat("%.0f", ratio);
}

// "the GPU (…) is faster from n = 128 on".
std::string CrossingLine(const char* what, const TimeBySize& gpu, const TimeBySize& cpu) {
  std::optional<int64_t> from;  // Of the last run of sizes at which the GPU wins.
  std::optional<int64_t> last;  // The largest size that both have.
  for (const auto& [n, gpu_ms] : gpu) {
    const auto other = cpu.find(n);
    if (other == cpu.end()) continue;
    last = n;
    if (gpu_ms < other->second) {
      if (!from.has_value()) from = n;
    } else {
      from.reset();
    }
  }
  if (!last.has_value()) return "";
  if (!from.has_value()) {
    return absl::StrFormat("%s: the CPU is still faster at n = %d, the largest size of both.\n",
                           what, *last);
  }
  return absl::StrFormat("%s: the GPU is faster than the CPU from n = %d on (%s times at %d).\n",
                         what, *from, Times(cpu.at(*last) / gpu.at(*last)), *last);
}

// "tiled is 1.7 times naive" for the steps of the ladder at the largest n that has most of them.
std::string StepLines(absl::Span<const ResultRow> rows) {
  std::map<int64_t, std::vector<const ResultRow*>> by_size;
  for (const ResultRow& row : rows) {
    const std::optional<int64_t> n = SquareSize(row);
    const MatMulImplementation* implementation = ImplementationOf(row);
    if (n.has_value() && IsOk(row) && implementation != nullptr &&
        implementation->where == Where::kDevice) {
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
  std::string text = absl::StrCat("Steps at n = ", best->first, ":");
  for (const ResultRow* row : best->second) {
    absl::StrAppendFormat(&text, "\n  %-24s %10.1f GFLOP/s", row->Get(Column::kImplementation),
                          Number(*row, Column::kGflops).value_or(0));
    const std::optional<double> gain = Number(*row, Column::kSpeedupVsPrevious);
    if (gain.has_value()) absl::StrAppendFormat(&text, "  %.2f times the step before", *gain);
  }
  return text + "\n";
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
    if (implementation->where == Where::kHost) cpu_ms = std::min(cpu_ms, KernelMs(other));
    // Registry entries lie in one array, in the order of the ladder.
    if (implementation->where == own->where && implementation < own &&
        (previous == nullptr || implementation > previous)) {
      previous = implementation;
      previous_ms = KernelMs(other);
    }
  }
  if (previous != nullptr) row->Set(Column::kSpeedupVsPrevious, previous_ms / KernelMs(*row));
  // Infinite, and so left empty, where no host row is there.
  if (own->where == Where::kDevice) row->Set(Column::kSpeedupVsCpu, cpu_ms / KernelMs(*row));
}

std::string MatMulConclusions(absl::Span<const ResultRow> rows) {
  TimeBySize gpu_kernel;
  TimeBySize gpu_total;
  TimeBySize cpu;
  for (const ResultRow& row : rows) {
    const std::optional<int64_t> n = SquareSize(row);
    const MatMulImplementation* implementation = ImplementationOf(row);
    if (!n.has_value() || implementation == nullptr || !IsOk(row)) continue;
    if (implementation->where == Where::kHost) {
      KeepFaster(*n, KernelMs(row), &cpu);
      continue;
    }
    KeepFaster(*n, KernelMs(row), &gpu_kernel);
    const std::optional<double> total_ms = Number(row, Column::kTotalMs);
    if (total_ms.has_value()) KeepFaster(*n, *total_ms, &gpu_total);
  }
  return absl::StrCat(CrossingLine("Kernel alone", gpu_kernel, cpu),
                      CrossingLine("With allocation and copies", gpu_total, cpu), StepLines(rows));
}

}  // namespace stridewise
