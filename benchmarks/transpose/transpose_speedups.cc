#include "benchmarks/transpose/transpose_speedups.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/row_comparison.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

// Null for a row that this program does not know, from another version's file.
const TransposeImplementation* ImplementationOf(const ResultRow& row) {
  return FindTransposeImplementation(row.Get(Column::kImplementation));
}

bool HasBlock(const ResultRow& row, absl::string_view x, absl::string_view y) {
  return row.Get(Column::kBlockX) == x && row.Get(Column::kBlockY) == y;
}

bool HasDefaultBlock(const ResultRow& row, const TransposeImplementation& implementation) {
  const Block& block = implementation.default_block;
  if (block.x == 0) return HasBlock(row, "", "");
  return HasBlock(row, absl::StrCat(block.x), absl::StrCat(block.y));
}

// The rows of the step before `row`'s.
std::vector<const ResultRow*> PreviousStep(absl::Span<const ResultRow> rows, const ResultRow& row,
                                           const TransposeImplementation& own) {
  const TransposeImplementation* previous = nullptr;
  std::vector<const ResultRow*> found;
  for (const ResultRow& other : rows) {
    const TransposeImplementation* implementation = ImplementationOf(other);
    // Registry entries lie in one array, in the order of the ladder.
    if (implementation == nullptr || implementation >= &own || implementation < previous ||
        implementation->target.where != own.target.where || !SameProblem(row, other) ||
        !IsOk(other) || other.Get(Column::kL2) != row.Get(Column::kL2)) {
      continue;
    }
    if (implementation != previous) found.clear();
    previous = implementation;
    found.push_back(&other);
  }
  return found;
}

std::optional<double> PreviousMs(absl::Span<const ResultRow> rows, const ResultRow& row,
                                 const TransposeImplementation& own) {
  std::optional<double> with_default;
  for (const ResultRow* other : PreviousStep(rows, row, own)) {
    if (HasBlock(*other, row.Get(Column::kBlockX), row.Get(Column::kBlockY))) {
      return KernelMs(*other);
    }
    if (HasDefaultBlock(*other, *ImplementationOf(*other))) with_default = KernelMs(*other);
  }
  return with_default;
}

bool IsOkTranspose(const ResultRow& row, Where where,
                   TransposeOperation operation = TransposeOperation::kTranspose) {
  const TransposeImplementation* implementation = ImplementationOf(row);
  return implementation != nullptr && implementation->target.where == where &&
         implementation->operation == operation && IsOk(row);
}

// Correct transposes of the device for one shape, batch and type, all in place or all not: of each
// implementation the fastest row, in registry order.
struct Problem {
  std::string name;  // "4096x4096 float", "64x64 float x 4096", "4096x4096 float in place"
  double elements = 0;
  std::map<const TransposeImplementation*, const ResultRow*> fastest;
};

std::string ProblemName(const ResultRow& row, bool in_place) {
  std::string name = absl::StrCat(row.Get(Column::kRows), "x", row.Get(Column::kCols), " ",
                                  row.Get(Column::kDtype));
  const std::string& batch = row.Get(Column::kBatch);
  if (!batch.empty()) absl::StrAppend(&name, " x ", batch);
  if (in_place) absl::StrAppend(&name, " in place");
  return name;
}

std::vector<Problem> Problems(absl::Span<const ResultRow> rows) {
  std::vector<Problem> problems;
  for (const ResultRow& row : rows) {
    const bool in_place = IsOkTranspose(row, Where::kDevice, TransposeOperation::kInPlace);
    if (!in_place && !IsOkTranspose(row, Where::kDevice)) continue;
    const std::string name = ProblemName(row, in_place);
    auto problem = std::find_if(problems.begin(), problems.end(),
                                [&](const Problem& p) { return p.name == name; });
    if (problem == problems.end()) {
      const double elements = Number(row, Column::kRows).value_or(0) *
                              Number(row, Column::kCols).value_or(0) *
                              Number(row, Column::kBatch).value_or(1);
      problem = problems.insert(problems.end(), Problem{name, elements, {}});
    }
    const ResultRow*& fastest = problem->fastest[ImplementationOf(row)];
    if (fastest == nullptr || KernelMs(row) < KernelMs(*fastest)) fastest = &row;
  }
  return problems;
}

std::string BestLine(const Problem& problem) {
  const ResultRow* best = nullptr;
  for (const auto& [implementation, row] : problem.fastest) {
    if (best == nullptr || KernelMs(*row) < KernelMs(*best)) best = row;
  }
  if (best == nullptr) return "";
  std::string text =
      absl::StrFormat("Best at %s: %s, %.1f GB/s", problem.name, best->Get(Column::kImplementation),
                      Number(*best, Column::kGbps).value_or(0));
  const std::optional<double> of_copy = Number(*best, Column::kPctOfCopy);
  if (of_copy.has_value()) absl::StrAppendFormat(&text, ", %.1f %% of a copy", *of_copy);
  return text + ".\n";
}

std::string CrossingLines(absl::Span<const ResultRow> rows, const std::string& dtype) {
  TimeBySize gpu_kernel;
  TimeBySize gpu_total;
  TimeBySize cpu;
  for (const ResultRow& row : rows) {
    int64_t n = 0;
    if (row.Get(Column::kDtype) != dtype || row.Get(Column::kRows) != row.Get(Column::kCols) ||
        !row.Get(Column::kBatch).empty() || !absl::SimpleAtoi(row.Get(Column::kRows), &n)) {
      continue;
    }
    if (IsOkTranspose(row, Where::kHost)) KeepFaster(n, KernelMs(row), &cpu);
    if (!IsOkTranspose(row, Where::kDevice)) continue;
    KeepFaster(n, KernelMs(row), &gpu_kernel);
    const std::optional<double> total_ms = Number(row, Column::kTotalMs);
    if (total_ms.has_value()) KeepFaster(n, *total_ms, &gpu_total);
  }
  return absl::StrCat(
      CrossingLine(absl::StrCat("Kernel alone, ", dtype), gpu_kernel, cpu),
      CrossingLine(absl::StrCat("With allocation and copies, ", dtype), gpu_total, cpu));
}

// The problem that has most of the steps; of several such, the largest. Null if none has two.
const Problem* MostSteps(absl::Span<const Problem> problems) {
  const Problem* best = nullptr;
  for (const Problem& problem : problems) {
    if (problem.fastest.size() < 2) continue;
    if (best == nullptr || std::pair(problem.fastest.size(), problem.elements) >
                               std::pair(best->fastest.size(), best->elements)) {
      best = &problem;
    }
  }
  return best;
}

std::string Steps(const Problem& problem) {
  std::vector<const ResultRow*> rows;
  for (const auto& [implementation, row] : problem.fastest) rows.push_back(row);
  return StepLines(absl::StrCat("Steps at ", problem.name), rows, Column::kGbps, "GB/s");
}

// How much faster than the CPU each step is, alone and as a caller sees it who has the data on the
// host. Empty without a CPU row.
std::string AgainstCpu(absl::Span<const ResultRow> rows, const Problem& problem) {
  const ResultRow& one = *problem.fastest.begin()->second;
  const ResultRow* cpu = nullptr;
  for (const ResultRow& row : rows) {
    if (!SameProblem(row, one) || !IsOkTranspose(row, Where::kHost)) continue;
    if (cpu == nullptr || KernelMs(row) < KernelMs(*cpu)) cpu = &row;
  }
  if (cpu == nullptr) return "";
  std::string text = absl::StrFormat("Times the CPU's speed at %s (%s, %.4g ms):\n", problem.name,
                                     cpu->Get(Column::kImplementation), KernelMs(*cpu));
  for (const auto& [implementation, row] : problem.fastest) {
    absl::StrAppendFormat(&text, "  %-28s %10.2f kernel alone", implementation->name,
                          KernelMs(*cpu) / KernelMs(*row));
    const std::optional<double> total_ms = Number(*row, Column::kTotalMs);
    if (total_ms.has_value()) {
      absl::StrAppendFormat(&text, "  %8.2f with allocation and copies",
                            KernelMs(*cpu) / *total_ms);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

void SetTransposeSpeedups(absl::Span<const ResultRow> rows, ResultRow* row) {
  const TransposeImplementation* own = ImplementationOf(*row);
  if (own == nullptr || !IsOk(*row)) return;
  const std::optional<double> previous_ms = PreviousMs(rows, *row, *own);
  if (previous_ms.has_value()) row->Set(Column::kSpeedupVsPrevious, *previous_ms / KernelMs(*row));
  if (!IsOkTranspose(*row, Where::kDevice)) return;
  double cpu_ms = std::numeric_limits<double>::infinity();
  for (const ResultRow& other : rows) {
    if (!SameProblem(*row, other) || !IsOkTranspose(other, Where::kHost)) continue;
    cpu_ms = std::min(cpu_ms, KernelMs(other));
  }
  // Infinite, and so left empty, where no host row is there.
  row->Set(Column::kSpeedupVsCpu, cpu_ms / KernelMs(*row));
}

std::string TransposeConclusions(absl::Span<const ResultRow> rows) {
  const std::vector<Problem> problems = Problems(rows);
  std::string text;
  std::vector<std::string> dtypes;
  for (const Problem& problem : problems) text += BestLine(problem);
  for (const ResultRow& row : rows) {
    const std::string& dtype = row.Get(Column::kDtype);
    if (std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end()) continue;
    dtypes.push_back(dtype);
    text += CrossingLines(rows, dtype);
  }
  const Problem* most = MostSteps(problems);
  if (most == nullptr) return text;
  return absl::StrCat(text, Steps(*most), AgainstCpu(rows, *most));
}

}  // namespace stridewise
