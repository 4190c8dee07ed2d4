#include "benchmarks/harness/row_comparison.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stridewise {
namespace {

// Three digits, and no exponent.
std::string Times(double ratio) {
  return ratio < 1000 ? absl::StrFormat("%.3g", ratio) : absl::StrFormat("%.0f", ratio);
}

}  // namespace

std::optional<double> Number(const ResultRow& row, Column column) {
  double value = 0;
  if (!absl::SimpleAtod(row.Get(column), &value)) return std::nullopt;
  return value;
}

bool IsOk(const ResultRow& row) {
  return HasStatus(row, RowStatus::kOk) && Number(row, Column::kKernelMsMedian).value_or(0) > 0;
}

double KernelMs(const ResultRow& row) { return *Number(row, Column::kKernelMsMedian); }

std::string JoinExtents(const ResultRow& row, std::initializer_list<Column> columns) {
  std::string text;
  for (const Column column : columns) {
    if (row.Get(column).empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "x", row.Get(column));
  }
  return text;
}

std::string ShapeText(const ResultRow& row) {
  std::string text = JoinExtents(row, {Column::kRows, Column::kCols, Column::kDepth});
  const struct {
    Column column;
    const char* before;
  } parts[] = {{Column::kBatch, " x "},
               {Column::kLayout, " "},
               {Column::kAlpha, " alpha="},
               {Column::kBeta, " beta="},
               {Column::kWorkspace, " workspace="},
               {Column::kPermutation, " "},
               {Column::kPrecision, " precision="},
               {Column::kEpilogue, " epilogue="},
               {Column::kGrid, " grid="},
               {Column::kGridBlock, " grid_block="}};
  for (const auto& [column, before] : parts) {
    if (!row.Get(column).empty()) absl::StrAppend(&text, before, row.Get(column));
  }
  return text;
}

bool SameProblem(const ResultRow& a, const ResultRow& b) {
  for (const Column column :
       {Column::kOperation, Column::kDtype, Column::kRows, Column::kCols, Column::kDepth,
        Column::kBatch, Column::kLayout, Column::kAlpha, Column::kBeta, Column::kWorkspace,
        Column::kPermutation, Column::kPrecision, Column::kEpilogue, Column::kGrid,
        Column::kGridBlock}) {
    if (a.Get(column) != b.Get(column)) return false;
  }
  return true;
}

void KeepFaster(int64_t n, double ms, TimeBySize* times) {
  const auto [place, inserted] = times->emplace(n, ms);
  if (!inserted && ms < place->second) place->second = ms;
}

std::string CrossingLine(absl::string_view what, const TimeBySize& gpu, const TimeBySize& cpu) {
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

std::string StepLines(absl::string_view title, absl::Span<const ResultRow* const> rows, Column rate,
                      absl::string_view unit) {
  std::string text = absl::StrCat(title, ":");
  for (const ResultRow* row : rows) {
    const std::string block =
        row->Get(Column::kBlockX).empty()
            ? ""
            : absl::StrCat(row->Get(Column::kBlockX), "x", row->Get(Column::kBlockY));
    absl::StrAppendFormat(&text, "\n  %-28s %7s %10.1f %s", row->Get(Column::kImplementation),
                          block, Number(*row, rate).value_or(0), unit);
    const std::optional<double> gain = Number(*row, Column::kSpeedupVsPrevious);
    if (gain.has_value()) absl::StrAppendFormat(&text, "  %.2f times the step before", *gain);
  }
  return text + "\n";
}

}  // namespace stridewise
