#include "matmul/distributed/device_summa.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/half_types.h"
#include "common/base/status_macros.h"
#include "common/distributed/block_cyclic.h"
#include "matmul/distributed/panel_loader.h"
#include "matmul/distributed/summa_panels.h"

namespace stridewise {
namespace {

// The k of the largest step.
int64_t WidestStep(const BlockCyclicDimension& k, const SummaOptions& options) {
  return std::min(k.extent, std::max<int64_t>(options.step_k / k.block, 1) * k.block);
}

template <typename T, typename Out>
absl::Status RunSumma(const SummaProblem<T, Out>& problem, const SummaOptions& options,
                      const QueuedProduct& multiply, StreamQueues* queues,
                      Communicator* communicator, void* memory) {
  RETURN_IF_ERROR(CheckSumma(problem, *communicator));
  for (const auto* parts : {&options.parts_of_a, &options.parts_of_b}) {
    if (parts->size() == options.parts_of_a.size() &&
        (parts->empty() || static_cast<int>(parts->size()) == communicator->size())) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("options: parts of ", parts->size(),
                                                   " ranks are not allowed; there are ",
                                                   communicator->size()));
  }
  RETURN_IF_ERROR(queues->Enter());
  const SummaPanels<T, Out> panels(problem, communicator);
  MatMulProblem local = panels.WithoutOperands();
  local.precision = options.precision;
  const BlockCyclicDimension& of_a = problem.a_layout.cols;
  const PanelMemory<T> layout(local.m, local.n, WidestStep(of_a, options));
  if (memory == nullptr) {
    ASSIGN_OR_RETURN(memory, queues->Allocate(layout.bytes()));
  }
  const PanelBuffers<T> buffers[2] = {layout.At(memory, 0), layout.At(memory, 1)};
  if (panels.k() == 0) {
    local.a = {buffers[0].a, 0};
    local.b = {buffers[0].b, local.n};
    RETURN_IF_ERROR(queues->Run([&](cudaStream_t stream) { return multiply(local, stream); }));
    return queues->Finish();
  }
  PanelLoader<T, Out> loader(problem, options, panels, queues);
  if (loader.Copies()) RETURN_IF_ERROR(communicator->Barrier());  // All parts are there.
  int number = 0;
  // Broadcasts have one order on all ranks. With copies each begins with what lies where it is, and
  // ranks do not all read from the same one at once.
  const int64_t first = loader.Copies() ? panels.FirstOwn() : 0;
  for (const auto& blocks : SummaSteps(of_a, problem.b_layout.rows, options.step_k, first)) {
    const int buffer = number++ % 2;
    ASSIGN_OR_RETURN(const auto step, loader.Load(blocks, buffers[buffer], buffer));
    local.k = step.panel.k;
    local.a = step.a;
    local.b = step.b;
    RETURN_IF_ERROR(
        queues->Run([&multiply, local](cudaStream_t stream) { return multiply(local, stream); }));
    RETURN_IF_ERROR(queues->Record(StreamQueue::kCompute, PanelsMultiplied(buffer)));
    local.beta = 1;
  }
  RETURN_IF_ERROR(queues->Finish());
  if (!loader.Copies()) return absl::OkStatus();
  return communicator->Barrier();  // All have read this rank's parts.
}

}  // namespace

template <typename T, typename Out>
int64_t SummaPanelBytes(const SummaProblem<T, Out>& problem, int rank,
                        const SummaOptions& options) {
  return PanelMemory<T>(problem.c_layout.LocalRows(rank), problem.c_layout.LocalCols(rank),
                        WidestStep(problem.a_layout.cols, options))
      .bytes();
}

template <typename T, typename Out>
absl::Status SummaOnDevice(const SummaProblem<T, Out>& problem, const QueuedProduct& multiply,
                           StreamQueues* queues, Communicator* communicator, void* panels,
                           const SummaOptions& options) {
  const absl::Status status = RunSumma(problem, options, multiply, queues, communicator, panels);
  // What is queued still uses the arguments.
  if (!status.ok()) queues->Finish().IgnoreError();
  return status;
}

#define STRIDEWISE_INSTANTIATE(T, Out)                                                     \
  template int64_t SummaPanelBytes(const SummaProblem<T, Out>&, int, const SummaOptions&); \
  template absl::Status SummaOnDevice(const SummaProblem<T, Out>&, const QueuedProduct&,   \
                                      StreamQueues*, Communicator*, void*, const SummaOptions&)
STRIDEWISE_INSTANTIATE(float, float);
STRIDEWISE_INSTANTIATE(Bf16, float);

}  // namespace stridewise
