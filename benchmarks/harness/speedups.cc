#include "benchmarks/harness/speedups.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/row_comparison.h"

namespace stridewise {
namespace {

bool HasBlock(const ResultRow& row, absl::string_view x, absl::string_view y) {
  return row.Get(Column::kBlockX) == x && row.Get(Column::kBlockY) == y;
}

bool HasDefaultBlock(const ResultRow& row, const Implementation& implementation) {
  const Block& block = implementation.default_block;
  if (block.x == 0) return HasBlock(row, "", "");
  return HasBlock(row, absl::StrCat(block.x), absl::StrCat(block.y));
}

// Returns the time of the previous step; see the header.
std::optional<double> PreviousMs(const Operation& operation, absl::Span<const ResultRow> rows,
                                 const ResultRow& row, const Implementation& own) {
  int step = kNoStep;
  bool same_block = false;
  std::optional<double> ms;
  for (const ResultRow& other : rows) {
    if (!IsOk(other) || !SameProblem(row, other)) continue;
    const Implementation* implementation = operation.Find(other.Get(Column::kImplementation));
    if (implementation == nullptr || implementation->step >= own.step ||
        implementation->step < std::max(step, 1) ||
        implementation->on_device() != own.on_device() ||
        other.Get(Column::kL2) != row.Get(Column::kL2)) {
      continue;
    }
    const bool has_same_block = HasBlock(other, row.Get(Column::kBlockX), row.Get(Column::kBlockY));
    if (implementation->step > step) {
      step = implementation->step;
      same_block = false;
      ms.reset();
    }
    if (!has_same_block && (same_block || !HasDefaultBlock(other, *implementation))) continue;
    same_block = has_same_block;
    ms = KernelMs(other);
  }
  return ms;
}

}  // namespace

void SetSpeedups(const Operation& operation, absl::Span<const ResultRow> rows, ResultRow* row) {
  const Implementation* own = operation.Find(row->Get(Column::kImplementation));
  if (own == nullptr || !IsOk(*row)) return;
  if (own->step != kNoStep) {
    const std::optional<double> previous_ms = PreviousMs(operation, rows, *row, *own);
    if (previous_ms.has_value()) {
      row->Set(Column::kSpeedupVsPrevious, *previous_ms / KernelMs(*row));
    }
  }
  if (!own->on_device()) return;
  double cpu_ms = std::numeric_limits<double>::infinity();
  for (const ResultRow& other : rows) {
    if (!IsOk(other) || !SameProblem(*row, other)) continue;
    const Implementation* implementation = operation.Find(other.Get(Column::kImplementation));
    if (implementation == nullptr || implementation->on_device()) continue;
    cpu_ms = std::min(cpu_ms, KernelMs(other));
  }
  // Infinite, and so left empty, where no host row is there.
  row->Set(Column::kSpeedupVsCpu, cpu_ms / KernelMs(*row));
}

}  // namespace stridewise
