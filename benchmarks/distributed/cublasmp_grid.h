// Products and transposes by cuBLASMp (cublasmp_library.h) of what is spread over a grid of ranks.
//
// A row-major part is a column-major part of the transposed matrix, on the transposed grid: C = A B
// is computed as C^T = B^T A^T, and nothing is moved for it.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_CUBLASMP_GRID_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_CUBLASMP_GRID_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/distributed/guarded_memory.h"
#include "common/base/half_types.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/communication_queue.h"
#include "common/distributed/communicator.h"
#include "common/distributed/cublasmp_library.h"
#include "common/distributed/nccl_library.h"
#include "common/streaming/stream_queues.h"
#include "matmul/distributed/summa.h"
#include "transpose/transpose.h"

namespace stridewise {

class CublasMpGrid {
 public:
  // A call that is bound to its operands. All ranks make it; it returns when the result is written.
  using Call = std::function<absl::Status()>;

  // Connects the ranks of `control`, which is on the host, on the devices that are current. All of
  // them make the call. The arguments are borrowed. A call has `seconds`: then, and where a rank is
  // lost, its work is ended and it returns Unavailable; nothing else may be done with this object
  // then but to end it. Internal, with the function and its status, for what a library refuses,
  // here and in calls.
  static absl::StatusOr<std::unique_ptr<CublasMpGrid>> Create(
      const CublasMpLibrary* library, const NcclLibrary* nccl, const RankGrid& grid,
      Communicator* control, CommunicationQueue* queue, double seconds);
  CublasMpGrid(const CublasMpGrid&) = delete;
  CublasMpGrid& operator=(const CublasMpGrid&) = delete;

  // Without Close() ends the communicator's work and leaves the library's objects to nobody.
  ~CublasMpGrid();

  // Ends all that was made, together with the other ranks, who all make the call; nothing else may
  // be done with this object then. The library ends a grid only in all ranks at once, and while
  // each rank has its communicator: who ends it alone may wait for ever, or use what is no more.
  absl::Status Close();

  // Return the call, whose workspace is memory of `device`, which must last as long as this. The
  // call borrows this object. ResourceExhausted where there is no memory.
  absl::StatusOr<Call> Product(const SummaProblem<float>& problem, StreamQueues* device);
  absl::StatusOr<Call> Product(const SummaProblem<Bf16, float>& problem, StreamQueues* device);
  absl::StatusOr<Call> Transpose(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                 const BlockCyclicLayout& out_layout, const MutableMatrixView& out,
                                 StreamQueues* device);

  // Returns Internal, with the function, if one has written beside its workspace on the host.
  absl::Status CheckWorkspaces() const;

 private:
  // Of one call, on the device and on the host. Never null, also where 0 bytes are asked for.
  struct Workspace {
    void* device = nullptr;
    size_t device_bytes = 0;
    char* host = nullptr;
    size_t host_bytes = 0;
  };
  struct LentMemory {
    const char* function = nullptr;
    GuardedMemory memory;
  };

  CublasMpGrid(const CublasMpLibrary* library, const NcclLibrary* nccl, Communicator* control,
               CommunicationQueue* queue, double seconds)
      : library_(*library), nccl_(*nccl), control_(*control), queue_(*queue), seconds_(seconds) {}

  template <typename T>
  absl::StatusOr<Call> ProductOf(const SummaProblem<T, float>& problem, StreamQueues* device);
  absl::StatusOr<CublasMpMatrix> Describe(const BlockCyclicLayout& layout, int64_t ld,
                                          CublasMpType type);
  absl::StatusOr<Workspace> Allocate(const char* function, size_t device_bytes, size_t host_bytes,
                                     StreamQueues* device);
  absl::Status WaitForQueue();

  const CublasMpLibrary& library_;
  const NcclLibrary& nccl_;
  Communicator& control_;
  CommunicationQueue& queue_;
  double seconds_;
  NcclComm comm_ = nullptr;
  CublasMpHandle handle_ = nullptr;
  CublasMpGridHandle grid_ = nullptr;
  std::vector<CublasMpMatrix> matrices_;
  std::vector<std::unique_ptr<LentMemory>> lent_;  // Lasts as long as the library's objects.
  bool is_working_ = false;                        // What was queued may still use it.
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_CUBLASMP_GRID_H_
