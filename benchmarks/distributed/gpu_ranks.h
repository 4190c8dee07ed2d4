// A rank that has a GPU: what it is connected by, and products and transposes of parts that lie on
// the host.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_GPU_RANKS_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_GPU_RANKS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/distributed/grid_devices.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/communicator.h"
#include "common/distributed/nccl_communicator.h"
#include "matmul/distributed/summa.h"
#include "transpose/transpose.h"

namespace stridewise {

class GpuRank {
 public:
  // Makes the GPU of this number the calling thread's. Returns InvalidArgument, naming --transport,
  // --device or LOCAL_RANK, where there is no NCCL, no GPU or not so many: before anybody waits for
  // this rank.
  static absl::Status Prepare(int device);

  // Connects the ranks of `control`, which is borrowed and on the host, on their prepared devices.
  // Each operation has `seconds`.
  static absl::StatusOr<GpuRank> Connect(int device, Communicator* control, double seconds);

  // Copies the parts to the device, computes there (device_summa.h) and copies C back. Returns the
  // seconds of the computation, between two barriers. All ranks make the call.
  absl::StatusOr<double> Multiply(const SummaProblem<float>& problem);

  // The same for a transpose (device_exchange.h).
  absl::StatusOr<double> Transpose(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                   const BlockCyclicLayout& out_layout,
                                   const MutableMatrixView& out);

 private:
  GridDevice device_;
  std::unique_ptr<NcclCommunicator> ranks_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_GPU_RANKS_H_
