// SUMMA (summa.h) with the parts of A, B and C in the memory of a device: a panel is broadcast
// while the product of the one before runs.

#ifndef STRIDEWISE_MATMUL_DISTRIBUTED_DEVICE_SUMMA_H_
#define STRIDEWISE_MATMUL_DISTRIBUTED_DEVICE_SUMMA_H_

#include <functional>

#include "absl/status/status.h"
#include "common/distributed/communicator.h"
#include "common/streaming/stream_queues.h"
#include "matmul/distributed/summa.h"
#include "matmul/matmul.h"

namespace stridewise {

// Queues a product of what is in the device's memory: MatMul().
using QueuedProduct = std::function<absl::Status(const MatMulProblem&, cudaStream_t)>;

// Computes the problem, whose local parts are in the device's memory, and returns when C is
// written. All ranks of the communicator make the call; its broadcasts take the device's memory
// (nccl_communicator.h). The queues are this call's alone; the device holds two panels of each
// operand until they end. Waits for nothing that the caller queued elsewhere.
//
// Returns what Summa() does; ResourceExhausted where the device has no memory for the panels.
absl::Status SummaOnDevice(const SummaProblem<float>& problem, const QueuedProduct& multiply,
                           StreamQueues* queues, Communicator* communicator);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISTRIBUTED_DEVICE_SUMMA_H_
