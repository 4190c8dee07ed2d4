#include "matmul/distributed/device_summa.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/distributed/block_cyclic.h"
#include "matmul/distributed/summa_panels.h"

namespace stridewise {
namespace {

// The events of buffer 0 or 1.
int Packed(int buffer) { return buffer; }
int Multiplied(int buffer) { return 2 + buffer; }

// A panel of A and one of B, without gaps.
struct Buffers {
  float* a = nullptr;
  float* b = nullptr;
};

// Copies to rows that are `ld` elements apart.
BlockCopy Pack(ConstMatrix<float> from, float* to, int64_t ld) {
  const auto bytes = [](int64_t elements) { return elements * int64_t{sizeof(float)}; };
  return {to, bytes(ld), from.data, bytes(from.ld), bytes(from.cols), from.rows};
}

// The k of the largest step.
int64_t WidestStep(const BlockCyclicDimension& k, const SummaOptions& options) {
  return std::min(k.extent, std::max<int64_t>(options.step_k / k.block, 1) * k.block);
}

// Two pairs of panels in one piece of memory.
class PanelMemory {
 public:
  PanelMemory(int64_t rows, int64_t cols, int64_t widest)
      : a_bytes_(Aligned(rows * widest)), b_bytes_(Aligned(widest * cols)) {}

  int64_t bytes() const { return 2 * (a_bytes_ + b_bytes_); }
  Buffers At(void* memory, int buffer) const {
    char* const begin = static_cast<char*>(memory) + buffer * (a_bytes_ + b_bytes_);
    return {reinterpret_cast<float*>(begin), reinterpret_cast<float*>(begin + a_bytes_)};
  }

 private:
  static int64_t Aligned(int64_t elements) {
    constexpr int64_t kAlignment = 256;
    const int64_t bytes = elements * int64_t{sizeof(float)};
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  int64_t a_bytes_;
  int64_t b_bytes_;
};

// Queues the copies of this rank's panels of a step to where they are sent from, or of all panels
// to where they are multiplied, and returns those of all of the step's blocks as one.
absl::StatusOr<SummaPanel<float>> PackStep(const SummaPanels<float>& panels,
                                           const std::vector<int64_t>& blocks, const Buffers& to,
                                           int64_t cols, const SummaOptions& options,
                                           StreamQueues* queues) {
  SummaPanel<float> all = panels.At(blocks[0]);
  all.k = 0;
  for (const int64_t first : blocks) all.k += panels.At(first).k;
  int64_t k = 0;  // Of the blocks before.
  for (const int64_t first : blocks) {
    const SummaPanel<float> panel =
        options.parts_of_a.empty() ? panels.At(first)
                                   : panels.AtOwners(first, options.parts_of_a, options.parts_of_b);
    if (panel.a) {
      RETURN_IF_ERROR(queues->Copy(StreamQueue::kIn, Pack(*panel.a, to.a + k, all.k)));
    }
    if (panel.b) {
      RETURN_IF_ERROR(queues->Copy(StreamQueue::kIn, Pack(*panel.b, to.b + k * cols, cols)));
    }
    k += panel.k;
  }
  return all;
}

// Makes the panels of a buffer ready to be multiplied, on the device's time.
absl::Status CopyPanels(const SummaPanels<float>& panels, const std::vector<int64_t>& blocks,
                        const Buffers& to, int64_t cols, const SummaOptions& options, int buffer,
                        StreamQueues* queues) {
  RETURN_IF_ERROR(queues->Wait(StreamQueue::kIn, Multiplied(buffer)));
  RETURN_IF_ERROR(PackStep(panels, blocks, to, cols, options, queues).status());
  RETURN_IF_ERROR(queues->Record(StreamQueue::kIn, Packed(buffer)));
  return queues->Wait(StreamQueue::kCompute, Packed(buffer));
}

// The same on the host's time, while the product of the other buffer runs.
absl::Status SendPanels(const SummaPanels<float>& panels, const std::vector<int64_t>& blocks,
                        const Buffers& to, int64_t cols, const SummaOptions& options, int buffer,
                        StreamQueues* queues) {
  RETURN_IF_ERROR(queues->WaitOnHost(Multiplied(buffer)));
  ASSIGN_OR_RETURN(const SummaPanel<float> panel,
                   PackStep(panels, blocks, to, cols, options, queues));
  RETURN_IF_ERROR(queues->Record(StreamQueue::kIn, Packed(buffer)));
  RETURN_IF_ERROR(queues->WaitOnHost(Packed(buffer)));
  return panels.Broadcast(panel, to.a, to.b);
}

absl::Status RunSumma(const SummaProblem<float>& problem, const SummaOptions& options,
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
  const SummaPanels<float> panels(problem, communicator);
  MatMulProblem local = panels.WithoutOperands();
  const BlockCyclicDimension& of_a = problem.a_layout.cols;
  const PanelMemory layout(local.m, local.n, WidestStep(of_a, options));
  if (memory == nullptr) {
    ASSIGN_OR_RETURN(memory, queues->Allocate(layout.bytes()));
  }
  const Buffers buffers[2] = {layout.At(memory, 0), layout.At(memory, 1)};
  if (panels.k() == 0) {
    local.a = {buffers[0].a, 0};
    local.b = {buffers[0].b, local.n};
    RETURN_IF_ERROR(queues->Run([&](cudaStream_t stream) { return multiply(local, stream); }));
    return queues->Finish();
  }
  const bool copies = !options.parts_of_a.empty();
  const auto load = copies ? CopyPanels : SendPanels;
  if (copies) RETURN_IF_ERROR(communicator->Barrier());  // All parts are there.
  int64_t step = 0;
  for (const auto& blocks : SummaSteps(of_a, problem.b_layout.rows, options.step_k)) {
    const auto buffer = static_cast<int>(step++ % 2);
    const Buffers& p = buffers[buffer];
    RETURN_IF_ERROR(load(panels, blocks, p, local.n, options, buffer, queues));
    local.k = 0;
    for (const int64_t first : blocks) local.k += panels.At(first).k;
    local.a = {p.a, local.k};
    local.b = {p.b, local.n};
    RETURN_IF_ERROR(
        queues->Run([&multiply, local](cudaStream_t stream) { return multiply(local, stream); }));
    RETURN_IF_ERROR(queues->Record(StreamQueue::kCompute, Multiplied(buffer)));
    local.beta = 1;
  }
  RETURN_IF_ERROR(queues->Finish());
  return copies ? communicator->Barrier() : absl::OkStatus();  // All have read this rank's.
}

}  // namespace

int64_t SummaPanelBytes(const SummaProblem<float>& problem, int rank, const SummaOptions& options) {
  return PanelMemory(problem.c_layout.LocalRows(rank), problem.c_layout.LocalCols(rank),
                     WidestStep(problem.a_layout.cols, options))
      .bytes();
}

absl::Status SummaOnDevice(const SummaProblem<float>& problem, const QueuedProduct& multiply,
                           StreamQueues* queues, Communicator* communicator, void* panels,
                           const SummaOptions& options) {
  const absl::Status status = RunSumma(problem, options, multiply, queues, communicator, panels);
  // What is queued still uses the arguments.
  if (!status.ok()) queues->Finish().IgnoreError();
  return status;
}

}  // namespace stridewise
