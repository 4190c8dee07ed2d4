#include "matmul/distributed/device_summa.h"

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

absl::Status RunSumma(const SummaProblem<float>& problem, const QueuedProduct& multiply,
                      StreamQueues* queues, Communicator* communicator) {
  RETURN_IF_ERROR(CheckSumma(problem, *communicator));
  RETURN_IF_ERROR(queues->Enter());
  const SummaPanels<float> panels(problem, communicator);
  MatMulProblem local = panels.WithoutOperands();
  const int64_t widest = panels.widest();
  Buffers buffers[2];
  for (Buffers& p : buffers) {
    ASSIGN_OR_RETURN(void* const a, queues->Allocate(sizeof(float) * local.m * widest));
    ASSIGN_OR_RETURN(void* const b, queues->Allocate(sizeof(float) * widest * local.n));
    p = {static_cast<float*>(a), static_cast<float*>(b)};
  }
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

absl::Status SummaOnDevice(const SummaProblem<float>& problem, const QueuedProduct& multiply,
                           StreamQueues* queues, Communicator* communicator) {
  const absl::Status status = RunSumma(problem, multiply, queues, communicator);
  // What is queued still uses the arguments.
  if (!status.ok()) queues->Finish().IgnoreError();
  return status;
}

}  // namespace stridewise
