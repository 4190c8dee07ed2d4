#include "benchmarks/harness/executor_run.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/status_macros.h"
#include "common/executor/trace.h"
#include "common/gpu/buffer.h"

namespace stridewise {
namespace {

// What the 32 banks can deliver in one pass.
constexpr uint64_t kWavefrontBytes = 128;

// What a run will have taken at its end: inputs here and on the executor; the output, the copy of
// it that the executor keeps to start again, what is written of both, and two stamps a cell; the
// workspace is as the output.
size_t BytesNeeded(const Problem& problem, size_t workspace_bytes) {
  const auto cell = static_cast<size_t>(std::min<int64_t>(4, problem.output().element_bytes));
  size_t bytes = (problem.output().bytes + workspace_bytes) * (4 + 16 / cell);
  for (const BufferSpec& input : problem.inputs()) bytes += 2 * input.bytes;
  return bytes;
}

absl::StatusOr<executor::Buffer> MakeInput(const Problem& problem, size_t index, uint64_t seed,
                                           const char* name, executor::Executor* executor) {
  const size_t bytes = problem.inputs()[index].bytes;
  ASSIGN_OR_RETURN(const HostBuffer elements, HostBuffer::Allocate(bytes, HostMemory::kPageable));
  problem.Fill(index, seed, elements.data());
  ASSIGN_OR_RETURN(executor::Buffer buffer, executor->Allocate(name, bytes));
  buffer.Upload(elements.data());
  return buffer;
}

void SetRatio(Column column, double factor, uint64_t numerator, uint64_t denominator,
              ResultRow* row) {
  if (denominator == 0) return;
  row->Set(column, factor * static_cast<double>(numerator) / static_cast<double>(denominator));
}

}  // namespace

absl::StatusOr<ExecutorRun> ExecutorRun::Create(const Config& config, uint64_t seed,
                                                const executor::ExecutorOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Implementation> implementation,
                   config.operation->OnExecutor(*config.implementation));
  RETURN_IF_ERROR(config.operation->CheckSupported(*implementation, config.point));
  const std::unique_ptr<Problem> problem = config.operation->MakeProblem(config.point);
  ExecutorRun run;
  run.binding_ = problem->Bind(*implementation, config.block);
  // Linux promises memory that it has not and kills the program later: ask for all of it first.
  RETURN_IF_ERROR(HostBuffer::Allocate(BytesNeeded(*problem, run.binding_.workspace_bytes),
                                       HostMemory::kPageable)
                      .status());
  ASSIGN_OR_RETURN(run.executor_, executor::Executor::Create(options));
  const std::vector<BufferSpec> inputs = problem->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSIGN_OR_RETURN(executor::Buffer buffer,
                     MakeInput(*problem, i, seed, inputs[i].name, run.executor_.get()));
    buffer.MakeReadOnly();
    run.inputs_.push_back(std::move(buffer));
  }
  const BufferSpec output = problem->output();
  if (run.binding_.output_starts_as >= 0) {
    ASSIGN_OR_RETURN(run.output_,
                     MakeInput(*problem, static_cast<size_t>(run.binding_.output_starts_as), seed,
                               output.name, run.executor_.get()));
  } else {
    ASSIGN_OR_RETURN(run.output_, run.executor_->Allocate(output.name, output.bytes));
  }
  ASSIGN_OR_RETURN(run.workspace_,
                   run.executor_->Allocate("workspace", run.binding_.workspace_bytes));
  return run;
}

absl::Status ExecutorRun::Run() {
  executor_->ClearLaunches();
  std::vector<void*> inputs;
  for (const executor::Buffer& input : inputs_) inputs.push_back(input.data());
  return binding_.run({inputs, output_.data(), workspace_.data(), executor_->stream(),
                       /*cublas=*/nullptr});
}

executor::Profile ExecutorRun::Profile() const {
  executor::Profile total;
  for (const executor::LaunchReport& launch : launches()) total.Add(launch.profile);
  return total;
}

absl::StatusOr<executor::Profile> ProfileOnExecutor(const Config& config, uint64_t seed) {
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
