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
  // Messages by NCCL, or copies from and to the memory of the other GPUs.
  enum class Transport { kNccl, kDirect };

  // Makes the GPU of this number the calling thread's. Returns InvalidArgument, naming --transport,
  // --device or LOCAL_RANK, where there is no NCCL or no GPU of that number: before anybody waits
  // for this rank.
  static absl::Status Prepare(int device, Transport transport);

  // Connects the ranks of `control`, which is borrowed and on the host, on their prepared devices.
  // Each operation has `seconds`.
  static absl::StatusOr<GpuRank> Connect(int device, Transport transport, Communicator* control,
                                         double seconds);

  // Copies the parts to the device, computes there (device_summa.h) and copies C back. Returns the
  // seconds of the computation, between two barriers. All ranks make the call.
  absl::StatusOr<double> Multiply(const SummaProblem<float>& problem);

  // The same for a transpose (device_exchange.h).
  absl::StatusOr<double> Transpose(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                   const BlockCyclicLayout& out_layout,
                                   const MutableMatrixView& out);

 private:
  Communicator& ranks() { return nccl_ != nullptr ? *nccl_ : *control_; }

  // NCCL connects the ranks of a row, of a column or of all when they first meet.
  absl::Status Meet(const RankGrid& grid);
  absl::Status MeetInPairs();

  GridDevice device_;
  Communicator* control_ = nullptr;
  std::unique_ptr<NcclCommunicator> nccl_;  // Null for direct transport.
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_GPU_RANKS_H_
