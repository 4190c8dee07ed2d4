#include "benchmarks/harness/memory_behaviour.h"

#include <algorithm>

#include "benchmarks/harness/executor_run.h"
#include "benchmarks/harness/row_columns.h"

namespace stridewise {
namespace {

bool IsWanted(const Config& config, MemoryBehaviour mode) {
  const Implementation& implementation = *config.implementation;
  if (!implementation.on_device() || implementation.executor != Executor::kHostExecutable ||
      mode == MemoryBehaviour::kNever || config.operation->MakeProblem(config.point)->empty()) {
    return false;
  }
  return mode == MemoryBehaviour::kAlways || EstimatedAccesses(config) <= kMaxAutoAccesses;
}

}  // namespace

double EstimatedAccesses(const Config& config) {
  // A block that the caller chose may be mostly outside of the matrix; one that belongs to the
  // kernel says nothing of its tile.
  const Block block = config.implementation->blocks == Blocks::kAny ? config.block : kNoBlock;
  const int64_t side = std::max<int64_t>({32, block.x, block.y});
  return static_cast<double>(config.point.batch) *
         config.operation->EstimatedAccesses(config.point, side);
}

void FillMemoryBehaviour(const Config& config, const SweepOptions& options, ResultRow* row) {
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
