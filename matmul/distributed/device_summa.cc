#include "matmul/distributed/device_summa.h"

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
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

// Copies columns or rows, one after the other.
BlockCopy Pack(ConstMatrix<float> from, float* to) {
  const auto bytes = [](int64_t elements) { return elements * int64_t{sizeof(float)}; };
  return {to, bytes(from.cols), from.data, bytes(from.ld), bytes(from.cols), from.rows};
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

absl::Status RunSumma(const SummaProblem<float>& problem, const QueuedProduct& multiply,
                      StreamQueues* queues, Communicator* communicator, void* memory) {
  RETURN_IF_ERROR(CheckSumma(problem, *communicator));
  RETURN_IF_ERROR(queues->Enter());
  const SummaPanels<float> panels(problem, communicator);
  MatMulProblem local = panels.WithoutOperands();
  const PanelMemory layout(local.m, local.n, panels.widest());
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
  int64_t step = 0;
  for (int64_t first = 0; first < panels.k(); first += panels.block(), ++step) {
    const auto buffer = static_cast<int>(step % 2);
    const Buffers& p = buffers[buffer];
    const SummaPanel<float> panel = panels.At(first);
    local.k = panel.k;
    local.a = {p.a, local.k};
    local.b = {p.b, local.n};
    // While the product of the other buffer runs.
    RETURN_IF_ERROR(queues->WaitOnHost(Multiplied(buffer)));
    if (panel.a) RETURN_IF_ERROR(queues->Copy(StreamQueue::kIn, Pack(*panel.a, p.a)));
    if (panel.b) RETURN_IF_ERROR(queues->Copy(StreamQueue::kIn, Pack(*panel.b, p.b)));
    RETURN_IF_ERROR(queues->Record(StreamQueue::kIn, Packed(buffer)));
    RETURN_IF_ERROR(queues->WaitOnHost(Packed(buffer)));
    RETURN_IF_ERROR(panels.Broadcast(panel, p.a, p.b));
    RETURN_IF_ERROR(
        queues->Run([&multiply, local](cudaStream_t stream) { return multiply(local, stream); }));
    RETURN_IF_ERROR(queues->Record(StreamQueue::kCompute, Multiplied(buffer)));
    local.beta = 1;
  }
  return queues->Finish();
}

}  // namespace

int64_t SummaPanelBytes(const SummaProblem<float>& problem, int rank) {
  const BlockCyclicDimension& k = problem.a_layout.cols;
  return PanelMemory(problem.c_layout.LocalRows(rank), problem.c_layout.LocalCols(rank),
                     std::min(k.block, k.extent))
      .bytes();
}

absl::Status SummaOnDevice(const SummaProblem<float>& problem, const QueuedProduct& multiply,
                           StreamQueues* queues, Communicator* communicator, void* panels) {
  const absl::Status status = RunSumma(problem, multiply, queues, communicator, panels);
  // What is queued still uses the arguments.
  if (!status.ok()) queues->Finish().IgnoreError();
  return status;
}

}  // namespace stridewise
