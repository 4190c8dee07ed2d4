// SUMMA (summa.h) with the parts of A, B and C in the memory of a device: a panel is broadcast, or
// copied from its owner's memory, while the product of the one before runs.

#ifndef STRIDEWISE_MATMUL_DISTRIBUTED_DEVICE_SUMMA_H_
#define STRIDEWISE_MATMUL_DISTRIBUTED_DEVICE_SUMMA_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "common/distributed/communicator.h"
#include "common/streaming/stream_queues.h"
#include "matmul/distributed/summa.h"
#include "matmul/matmul.h"

namespace stridewise {

// Queues a product of what is in the device's memory: MatMul().
using QueuedProduct = std::function<absl::Status(const MatMulProblem&, cudaStream_t)>;

struct SummaOptions {
  // The most of k that is sent and multiplied at once, or one block. Each step reads and writes C
  // once more: on an H100 1.5 % of a step of 32768 x 16384 x 2048. The same on all ranks.
  int64_t step_k = 8192;

  // Of the local products of floats. The same on all ranks.
  MatMulPrecision precision = MatMulPrecision::kFp32;

  // Where this rank's device reaches the parts of A and B of each rank, by rank (peer_memory.h).
  // Without them the owners broadcast their panels. With them each rank copies what it needs from
  // where it lies: the host waits for nobody but at the beginning and at the end, and the link
  // takes no multiprocessor from the product. All ranks have them or none.
  std::vector<MatMulInput> parts_of_a = {};
  std::vector<MatMulInput> parts_of_b = {};
};

// Returns the bytes of the panels that this rank holds during the call: two of each operand.
// REQUIRES: the layouts are those of a problem that the call takes.
template <typename T, typename Out>
int64_t SummaPanelBytes(const SummaProblem<T, Out>& problem, int rank,
                        const SummaOptions& options = {});

// Computes the problem, of float or of Bf16 with C of float, whose local parts are in the device's
// memory, and returns when C is written. All ranks of the communicator make the call; its
// broadcasts take the device's memory (nccl_communicator.h). The queues are this call's alone.
// `panels` is SummaPanelBytes() bytes of the device's memory, aligned to 256, that the call may
// write; without it the queues allocate as much, and keep it until they end. Waits for nothing that
// the caller queued elsewhere.
//
// Returns what Summa() does, also InvalidArgument for parts of other than all ranks;
// ResourceExhausted where the device has no memory for the
// panels.
template <typename T, typename Out>
absl::Status SummaOnDevice(const SummaProblem<T, Out>& problem, const QueuedProduct& multiply,
                           StreamQueues* queues, Communicator* communicator, void* panels = nullptr,
                           const SummaOptions& options = {});

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISTRIBUTED_DEVICE_SUMMA_H_
