// A product or transpose of one rank of a grid, for grid_measurement.h: its operands, the calls
// that are measured, and the judgement of their result.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_PROBLEM_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchmarks/distributed/cublasmp_grid.h"
#include "benchmarks/distributed/grid_devices.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/communicator.h"
#include "common/distributed/peer_memory.h"
#include "common/streaming/stream_queues.h"
#include "transpose/distributed/device_exchange.h"

namespace stridewise {

class GridProblem {
 public:
  virtual ~GridProblem() = default;

  // Makes this rank's operands, on the host and in memory of `device`, which is borrowed.
  // ResourceExhausted where there is no memory.
  virtual absl::Status MakeOperands(uint64_t seed, StreamQueues* device) = 0;

  // Overwrites the result with NaN, on the device.
  virtual absl::Status PoisonResult() = 0;

  // Lets Run() copy from and write to the memory of the other ranks instead of sending messages.
  // All ranks of `control` make the call. `memory` must last as long as this. Unavailable where a
  // rank does not reach another's.
  virtual absl::Status ReachPeers(PeerMemory* memory, Communicator* control) = 0;

  // Returns on how many multiprocessors kernels of the queues of Run() should run, 0 for all.
  virtual int Multiprocessors() const { return 0; }

  // Returns whether all that Run() sends are copies of its queues.
  virtual bool SendsByCopies() const { return false; }

  // This repository's call. `queues` have done nothing yet.
  virtual absl::Status Run(const GridDevice& device, StreamQueues* queues, Communicator* ranks) = 0;

  // Returns cuBLASMp's.
  virtual absl::StatusOr<CublasMpGrid::Call> Bind(CublasMpGrid* cublasmp) = 0;

  // Judges the result, which the device has. All ranks of `control` make the call, and get the same
  // answer: DataLoss where an element of any rank is wrong.
  virtual absl::Status Verify(Communicator* control) = 0;
};

// Make the problem of a rank: `extents` are those of the sweep's point, and all blocks are squares
// of this side. Products are of float or, bf16_float, of Bf16 with C of float; transposes of float
// or double. A precision other than kFp32 is that of floats, whose error's bound is kFp32's.
absl::StatusOr<std::unique_ptr<GridProblem>> MakeGridProduct(
    absl::Span<const int64_t> extents, absl::string_view type, int64_t block, const RankGrid& grid,
    int rank, MatMulPrecision precision = MatMulPrecision::kFp32);
absl::StatusOr<std::unique_ptr<GridProblem>> MakeGridTranspose(absl::Span<const int64_t> extents,
                                                               absl::string_view type,
                                                               int64_t block, const RankGrid& grid,
                                                               int rank,
                                                               DeviceTransposeOptions options = {});

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_PROBLEM_H_
