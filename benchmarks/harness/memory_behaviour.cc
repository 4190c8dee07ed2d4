#include "benchmarks/harness/memory_behaviour.h"

#include <algorithm>
#include <variant>

#include "benchmarks/harness/executor_profile.h"
#include "benchmarks/harness/row_columns.h"

namespace stridewise {
namespace {

double RoundedUp(int64_t extent, int64_t multiple) {
  return static_cast<double>(CeilDiv(extent, multiple) * multiple);
}

bool IsWanted(const KernelConfig& config, MemoryBehaviour mode) {
  if (!RunsOnExecutor(config) || IsEmpty(config) || mode == MemoryBehaviour::kNever) return false;
  // What C holds before is nowhere in a KernelWork.
  const auto* product = std::get_if<MatMulConfig>(&config);
  if (product != nullptr && product->form.beta != 0) return false;
  return mode == MemoryBehaviour::kAlways || EstimatedAccesses(config) <= kMaxAutoAccesses;
}

bool HasStatus(const ResultRow& row, RowStatus status) {
  return row.Get(Column::kStatus) == RowStatusName(status);
}

}  // namespace

double EstimatedAccesses(const KernelConfig& config) {
  // A block that the caller chose may be mostly outside of the matrix; one that belongs to the
  // kernel says nothing of its tile.
  const Block block = std::visit(
      [](const auto& c) { return c.implementation->blocks == Blocks::kAny ? c.block : kNoBlock; },
      config);
  const int64_t side = std::max<int64_t>({32, block.x, block.y});
  if (const auto* c = std::get_if<TransposeConfig>(&config)) {
    const double elements = RoundedUp(c->shape.rows, side) * RoundedUp(c->shape.cols, side);
    return 4 * elements * static_cast<double>(c->batch);
  }
  const auto& c = std::get<MatMulConfig>(config);
  return 2 * RoundedUp(c.shape.m, side) * RoundedUp(c.shape.n, side) * RoundedUp(c.shape.k, 32) *
         static_cast<double>(c.form.batch);
}

void FillMemoryBehaviour(const KernelConfig& config, const SweepOptions& options, ResultRow* row) {
  const bool finished = !row->Get(Column::kStatus).empty();
  if (!finished || !IsWanted(config, options.memory_behaviour)) return;
  const absl::StatusOr<executor::Profile> profile = ProfileOnExecutor(config, options.seed);
  if (profile.ok()) {
    SetProfileColumns(*profile, row);
  } else if (absl::IsDataLoss(profile.status()) &&
             (HasStatus(*row, RowStatus::kOk) || HasStatus(*row, RowStatus::kSkipped))) {
    SetOutcome(profile.status(), row);
  }
}

}  // namespace stridewise
