#include "benchmarks/harness/executor_profile.h"

#include <algorithm>
#include <cstddef>

#include "common/base/status_macros.h"
#include "common/executor/trace.h"
#include "common/gpu/buffer.h"
#include "common/verify/fill.h"

namespace stridewise {
namespace {

// What the 32 banks can deliver in one pass.
constexpr uint64_t kWavefrontBytes = 128;

// What a run will have taken at its end: inputs here and on the executor; the output, the copy of
// it that the executor keeps to start again, what is written of both, and two stamps a cell; the
// workspace is as the output.
size_t BytesNeeded(const KernelWork& work) {
  const auto cell = static_cast<size_t>(std::min<int64_t>(4, work.element_bytes));
  size_t bytes = (work.output_bytes + work.workspace_bytes) * (4 + 16 / cell);
  for (const KernelInput& input : work.inputs) bytes += 2 * input.bytes;
  return bytes;
}

absl::StatusOr<executor::Buffer> MakeInput(const KernelInput& input, const char* name,
                                           executor::Executor* executor) {
  ASSIGN_OR_RETURN(const HostBuffer numbers,
                   HostBuffer::Allocate(input.covering_bytes(), HostMemory::kPageable));
  const int64_t count = input.count();
  if (input.type == ElementType::kFloat) {
    FillUniform(Matrix<float>{numbers.As<float>(), 1, count, count}, input.seed);
  } else {
    FillUniform(Matrix<double>{numbers.As<double>(), 1, count, count}, input.seed);
  }
  ASSIGN_OR_RETURN(executor::Buffer buffer, executor->Allocate(name, input.bytes));
  buffer.Upload(numbers.data());
  return buffer;
}

void SetRatio(Column column, double factor, uint64_t numerator, uint64_t denominator,
              ResultRow* row) {
  if (denominator == 0) return;
  row->Set(column, factor * static_cast<double>(numerator) / static_cast<double>(denominator));
}

}  // namespace

absl::StatusOr<ExecutorRun> ExecutorRun::Create(const KernelConfig& config, uint64_t seed,
                                                const executor::ExecutorOptions& options) {
  ASSIGN_OR_RETURN(KernelWork work, WorkOnExecutor(config, seed));
  // Linux promises memory that it has not and kills the program later: ask for all of it first.
  RETURN_IF_ERROR(HostBuffer::Allocate(BytesNeeded(work), HostMemory::kPageable).status());
  ASSIGN_OR_RETURN(std::unique_ptr<executor::Executor> executor,
                   executor::Executor::Create(options));
  ExecutorRun run(std::move(work), std::move(executor));
  for (const KernelInput& input : run.work_.inputs) {
    ASSIGN_OR_RETURN(executor::Buffer buffer, MakeInput(input, input.name, run.executor_.get()));
    buffer.MakeReadOnly();
    run.inputs_.push_back(std::move(buffer));
  }
  if (run.work_.in_place) {
    ASSIGN_OR_RETURN(run.output_, MakeInput(run.work_.inputs.front(), run.work_.output_name,
                                            run.executor_.get()));
  } else {
    ASSIGN_OR_RETURN(run.output_,
                     run.executor_->Allocate(run.work_.output_name, run.work_.output_bytes));
  }
  ASSIGN_OR_RETURN(run.workspace_, run.executor_->Allocate("workspace", run.work_.workspace_bytes));
  return run;
}

absl::Status ExecutorRun::Run() {
  executor_->ClearLaunches();
  std::vector<void*> inputs;
  for (const executor::Buffer& input : inputs_) inputs.push_back(input.data());
  return work_.run(inputs, output_.data(), workspace_.data(), executor_->stream(),
                   /*cublas=*/nullptr);
}

executor::Profile ExecutorRun::Profile() const {
  executor::Profile total;
  for (const executor::LaunchReport& launch : launches()) total.Add(launch.profile);
  return total;
}

absl::StatusOr<executor::Profile> ProfileOnExecutor(const KernelConfig& config, uint64_t seed) {
  ASSIGN_OR_RETURN(ExecutorRun run, ExecutorRun::Create(config, seed, {}));
  RETURN_IF_ERROR(run.Run());
  return run.Profile();
}

void SetProfileColumns(const executor::Profile& profile, ResultRow* row) {
  const executor::MemoryCounters loads = profile.Total(executor::EventKind::kGlobalLoad);
  const executor::MemoryCounters stores = profile.Total(executor::EventKind::kGlobalStore);
  const executor::MemoryCounters shared_loads = profile.Total(executor::EventKind::kSharedLoad);
  const executor::MemoryCounters shared_stores = profile.Total(executor::EventKind::kSharedStore);
  if (loads.sectors > 0) row->Set(Column::kLoadEfficiency, 100 * loads.SectorEfficiency());
  if (stores.sectors > 0) row->Set(Column::kStoreEfficiency, 100 * stores.SectorEfficiency());
  row->Set(Column::kLoadTransactions, loads.sectors);
  row->Set(Column::kStoreTransactions, stores.sectors);
  SetRatio(Column::kSharedLoadWavefrontsPerRequest, 1, shared_loads.wavefronts,
           shared_loads.requests, row);
  SetRatio(Column::kSharedStoreWavefrontsPerRequest, 1, shared_stores.wavefronts,
           shared_stores.requests, row);
  SetRatio(Column::kSharedEfficiency, 100,
           shared_loads.distinct_bytes + shared_stores.distinct_bytes,
           (shared_loads.wavefronts + shared_stores.wavefronts) * kWavefrontBytes, row);
}

}  // namespace stridewise
