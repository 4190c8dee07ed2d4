#include "matmul/distributed/device_summa.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// The events of buffer 0 or 1.
int Packed(int buffer) { return buffer; }
int Multiplied(int buffer) { return 2 + buffer; }

// A panel of A and one of B, without gaps.
struct Panels {
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
  const RankGrid& grid = problem.c_layout.grid;
  const int my_row = grid.Row(communicator->rank());
  const int my_col = grid.Col(communicator->rank());
  const std::vector<int> row_ranks = grid.RanksOfRow(my_row);
  const std::vector<int> col_ranks = grid.RanksOfCol(my_col);
  const BlockCyclicDimension& of_a = problem.a_layout.cols;
  const BlockCyclicDimension& of_b = problem.b_layout.rows;
  const int64_t k = of_a.extent;
  const int64_t widest = std::min(of_a.block, k);
  MatMulProblem local;
  local.m = problem.c.rows;
  local.n = problem.c.cols;
  local.c = {problem.c.data, problem.c.ld};
  local.alpha = problem.alpha;
  local.beta = problem.beta;
  Panels panels[2];
  for (Panels& p : panels) {
    ASSIGN_OR_RETURN(void* const a, queues->Allocate(sizeof(float) * local.m * widest));
    ASSIGN_OR_RETURN(void* const b, queues->Allocate(sizeof(float) * widest * local.n));
    p = {static_cast<float*>(a), static_cast<float*>(b)};
  }
  if (k == 0) {
    local.a = {panels[0].a, 0};
    local.b = {panels[0].b, local.n};
    RETURN_IF_ERROR(queues->Run([&](cudaStream_t stream) { return multiply(local, stream); }));
    return queues->Finish();
  }
  int64_t step = 0;
  for (int64_t first = 0; first < k; first += of_a.block, ++step) {
    const auto buffer = static_cast<int>(step % 2);
    const Panels& p = panels[buffer];
    local.k = std::min(of_a.block, k - first);
    local.a = {p.a, local.k};
    local.b = {p.b, local.n};
    const auto a_owner = static_cast<int>(of_a.Owner(first));
    const auto b_owner = static_cast<int>(of_b.Owner(first));
    // While the product of the other buffer runs.
    RETURN_IF_ERROR(queues->WaitOnHost(Multiplied(buffer)));
    if (my_col == a_owner) {
      const float* const from = problem.a.data + of_a.LocalIndex(first);
      RETURN_IF_ERROR(
          queues->Copy(StreamQueue::kIn, Pack({from, local.m, local.k, problem.a.ld}, p.a)));
    }
    if (my_row == b_owner) {
      const float* const from = problem.b.data + of_b.LocalIndex(first) * problem.b.ld;
      RETURN_IF_ERROR(
          queues->Copy(StreamQueue::kIn, Pack({from, local.k, local.n, problem.b.ld}, p.b)));
    }
    RETURN_IF_ERROR(queues->Record(StreamQueue::kIn, Packed(buffer)));
    RETURN_IF_ERROR(queues->WaitOnHost(Packed(buffer)));
    RETURN_IF_ERROR(communicator->Broadcast(row_ranks, grid.Rank(my_row, a_owner), p.a,
                                            local.m * local.k * sizeof(float)));
    RETURN_IF_ERROR(communicator->Broadcast(col_ranks, grid.Rank(b_owner, my_col), p.b,
                                            local.k * local.n * sizeof(float)));
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
