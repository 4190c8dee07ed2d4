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
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "benchmarks/harness/row_comparison.h"
#include "benchmarks/harness/speedups.h"

namespace stridewise {
namespace {

// More lines than this say more than anybody reads; the file has all.
constexpr size_t kMaxBestLines = 20;

// Correct device rows of one problem, of each implementation the fastest, in registry order.
struct Group {
  std::string name;  // "4096x4096 float", "64x64 float x 4096", "4096x4096 float in place"
  double volume = 0;
  std::map<size_t, const ResultRow*> fastest;  // By the implementation's index.
};

class Conclusion {
 public:
  Conclusion(const Operation& operation, absl::Span<const ResultRow> rows)
      : operation_(operation), registry_(operation.implementations()), rows_(rows) {
    for (const ResultRow& row : rows) Add(row);
  }

  std::string Text() const {
    std::string text = BestLines();
    std::vector<std::string> types;
    for (const ResultRow& row : rows_) {
      const std::string& type = row.Get(Column::kDtype);
      if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
    }
    for (const std::string& type : types) text += CrossingLines(type);
    const Group* ladder = MostSteps();
    return ladder == nullptr ? text : absl::StrCat(text, Steps(*ladder), AgainstCpu(*ladder));
  }

 private:
  // Returns the index of a row that is correct and known to this program.
  std::optional<size_t> IndexOf(const ResultRow& row) const {
    if (!IsOk(row)) return std::nullopt;
    for (size_t i = 0; i < registry_.size(); ++i) {
      if (registry_[i]->name == row.Get(Column::kImplementation)) return i;
    }
    return std::nullopt;
  }

  bool IsOkOn(const ResultRow& row, Where where) const {
    const std::optional<size_t> index = IndexOf(row);
    return index.has_value() && registry_[*index]->target.where == where &&
           operation_.Competes(*registry_[*index]);
  }

  std::string ProblemName(const ResultRow& row) const {
    std::string name;
    for (const Column column : operation_.extent_columns()) {
      absl::StrAppend(&name, name.empty() ? "" : "x", row.Get(column));
    }
    absl::StrAppend(&name, " ", row.Get(Column::kDtype));
    for (const Axis& axis : operation_.axes()) {
      if (row.Get(axis.column).empty()) continue;
      absl::StrAppend(&name, " ", ColumnName(axis.column), "=", row.Get(axis.column));
    }
    const std::string& batch = row.Get(Column::kBatch);
    if (!batch.empty()) absl::StrAppend(&name, " x ", batch);
    // What the row's operation says beyond the operation's name: "transpose_in_place".
    absl::string_view more = row.Get(Column::kOperation);
    if (absl::ConsumePrefix(&more, operation_.name()) && !more.empty()) {
      absl::StrAppend(&name, absl::StrReplaceAll(more, {{"_", " "}}));
    }
    return name;
  }

  void Add(const ResultRow& row) {
    if (!IsOkOn(row, Where::kDevice)) return;
    const std::string name = ProblemName(row);
    const auto [place, is_new] = by_name_.emplace(name, groups_.size());
    if (is_new) {
      groups_.push_back({name, Number(row, Column::kBatch).value_or(1), {}});
      for (const Column column : operation_.extent_columns()) {
        groups_.back().volume *= Number(row, column).value_or(0);
      }
    }
    const ResultRow*& fastest = groups_[place->second].fastest[*IndexOf(row)];
    if (fastest == nullptr || KernelMs(row) < KernelMs(*fastest)) fastest = &row;
  }

  std::string BestLine(const Group& group) const {
    const ResultRow* best = nullptr;
    for (const auto& [index, row] : group.fastest) {
      if (best == nullptr || KernelMs(*row) < KernelMs(*best)) best = row;
    }
    const Column rate = RateColumn(*best);
    std::string text =
        absl::StrFormat("Best at %s: %s, %.1f %s", group.name, best->Get(Column::kImplementation),
                        Number(*best, rate).value_or(0), RateUnit(rate));
    const std::optional<double> of_copy = Number(*best, Column::kPctOfCopy);
    if (of_copy.has_value()) absl::StrAppendFormat(&text, ", %.1f %% of a copy", *of_copy);
    const std::optional<double> vs_cublas = Number(*best, Column::kVsCublas);
    if (vs_cublas.has_value()) absl::StrAppendFormat(&text, ", %.3f times cuBLAS", *vs_cublas);
    return text + ".\n";
  }

  std::string BestLines() const {
    std::string text;
    const size_t shown = std::min(groups_.size(), kMaxBestLines);
    for (size_t i = groups_.size() - shown; i < groups_.size(); ++i) text += BestLine(groups_[i]);
    if (shown == groups_.size()) return text;
    return absl::StrCat("The last ", shown, " of ", groups_.size(), " problems:\n", text);
  }

  // Returns n of a problem whose extents are all n, in the usual form and not a batch.
  std::optional<int64_t> SquareSize(const ResultRow& row) const {
    if (!row.Get(Column::kBatch).empty()) return std::nullopt;
    for (const Axis& axis : operation_.axes()) {
      if (!row.Get(axis.column).empty()) return std::nullopt;
    }
    int64_t n = 0;
    const std::string& first = row.Get(operation_.extent_columns()[0]);
    for (const Column column : operation_.extent_columns()) {
      if (row.Get(column) != first) return std::nullopt;
    }
    if (row.Get(Column::kOperation) != operation_.name() || !absl::SimpleAtoi(first, &n)) {
      return std::nullopt;
    }
    return n;
  }

  std::string CrossingLines(const std::string& type) const {
    TimeBySize gpu_kernel, gpu_total, cpu;
    for (const ResultRow& row : rows_) {
      const std::optional<int64_t> n = SquareSize(row);
      if (row.Get(Column::kDtype) != type || !n.has_value()) continue;
      if (IsOkOn(row, Where::kHost)) KeepFaster(*n, KernelMs(row), &cpu);
      if (!IsOkOn(row, Where::kDevice)) continue;
      KeepFaster(*n, KernelMs(row), &gpu_kernel);
      const std::optional<double> total_ms = Number(row, Column::kTotalMs);
      if (total_ms.has_value()) KeepFaster(*n, *total_ms, &gpu_total);
    }
    return absl::StrCat(
        CrossingLine(absl::StrCat("Kernel alone, ", type), gpu_kernel, cpu),
        CrossingLine(absl::StrCat("With allocation and copies, ", type), gpu_total, cpu));
  }

  std::vector<const ResultRow*> LadderOf(const Group& group) const {
    std::vector<const ResultRow*> rows;
    for (const auto& [index, row] : group.fastest) {
      if (registry_[index]->step != kNoStep) rows.push_back(row);
    }
    return rows;
  }

  // Returns the problem that has most of the steps; of several such, the largest. Null if none has
  // two.
  const Group* MostSteps() const {
    const Group* best = nullptr;
    std::pair<size_t, double> most = {1, std::numeric_limits<double>::infinity()};
    for (const Group& group : groups_) {
      const std::pair<size_t, double> has = {LadderOf(group).size(), group.volume};
      if (has <= most) continue;
      best = &group;
      most = has;
    }
    return best;
  }

  std::string Steps(const Group& group) const {
    const std::vector<const ResultRow*> rows = LadderOf(group);
    const Column rate = RateColumn(*rows.front());
    return StepLines(absl::StrCat("Steps at ", group.name), rows, rate, RateUnit(rate));
  }

  // Returns how much faster than the CPU each step is, alone and as a caller sees it who has the
  // data on the host. Empty without a CPU row.
  std::string AgainstCpu(const Group& group) const {
    const std::vector<const ResultRow*> steps = LadderOf(group);
    const ResultRow* cpu = nullptr;
    for (const ResultRow& row : rows_) {
      if (!IsOkOn(row, Where::kHost) || !SameProblem(row, *steps.front())) continue;
      if (cpu == nullptr || KernelMs(row) < KernelMs(*cpu)) cpu = &row;
    }
    if (cpu == nullptr) return "";
    std::string text = absl::StrFormat("Times the CPU's speed at %s (%s, %.4g ms):\n", group.name,
                                       cpu->Get(Column::kImplementation), KernelMs(*cpu));
    for (const ResultRow* row : steps) {
      absl::StrAppendFormat(&text, "  %-28s %10.2f kernel alone", row->Get(Column::kImplementation),
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

  // Operations that compute are compared by operations a second, others by bytes a second.
  static Column RateColumn(const ResultRow& row) {
    return row.Get(Column::kGflops).empty() ? Column::kGbps : Column::kGflops;
  }
  static const char* RateUnit(Column rate) { return rate == Column::kGflops ? "GFLOP/s" : "GB/s"; }

  const Operation& operation_;
  const std::vector<const Implementation*> registry_;
  const absl::Span<const ResultRow> rows_;
  std::vector<Group> groups_;
  std::map<std::string, size_t> by_name_;
};

}  // namespace

std::string Conclusions(const Operation& operation, absl::Span<const ResultRow> rows) {
  return Conclusion(operation, rows).Text();
}

}  // namespace stridewise
