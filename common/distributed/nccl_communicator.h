// The communicator on NCCL, for buffers in the memory of devices.
//
// NCCL moves what Exchange() and Broadcast() are given. A second communicator, on the host, serves
// the rest: sums, barriers, the addresses that NCCL's ranks meet at, and word of who is lost. While
// NCCL works, this rank waits on the host, with an eye on the clock, on NCCL's own errors and on
// the other ranks' connections. When one of the three fails, it ends NCCL's work (ncclCommAbort())
// and asks all ranks whether they are there: so an operation returns within twice its deadline.
//
// Sizes that differ between ranks are not noticed: they end as a rank that does not answer.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_NCCL_COMMUNICATOR_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_NCCL_COMMUNICATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/distributed/communication_queue.h"
#include "common/distributed/communicator.h"
#include "common/distributed/nccl_library.h"

namespace stridewise {

class NcclCommunicator : public Communicator {
 public:
  // All ranks of `control` make the call, each with its device current. The arguments are borrowed;
  // `control` has sent nothing that was not received. Each operation has `seconds`.
  static absl::StatusOr<std::unique_ptr<NcclCommunicator>> Create(const NcclLibrary* nccl,
                                                                  Communicator* control,
                                                                  CommunicationQueue* queue,
                                                                  double seconds);
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  ~NcclCommunicator() override;

  // Ends NCCL's work without the other ranks: for one that fails by itself, while they may wait for
  // it in an operation. No operation follows.
  void Abandon();

  int rank() const override { return control_.rank(); }
  int size() const override { return control_.size(); }

  // Of device memory, that nothing else is queued for.
  absl::Status Exchange(int partner, const void* send, int64_t send_bytes, void* receive,
                        int64_t receive_bytes) override;

  // Of device memory. The first call with a list of ranks connects them, also of 0 bytes.
  absl::Status Broadcast(absl::Span<const int> ranks, int root, void* data, int64_t bytes) override;

  // Of host memory.
  absl::Status Sum(absl::Span<double> values) override;
  absl::Status Barrier() override;
  absl::Status CheckRanks() override;

 private:
  using Queue = std::function<NcclResult()>;

  NcclCommunicator(const NcclLibrary* nccl, Communicator* control, CommunicationQueue* queue,
                   double seconds)
      : nccl_(*nccl), control_(*control), queue_(*queue), seconds_(seconds) {}

  // Returns the connection of these ranks, made at the first call with them.
  absl::StatusOr<NcclComm> Connect(absl::Span<const int> ranks);

  // Calls what queues work, and waits until it is done.
  absl::Status Run(const char* name, NcclComm comm, const Queue& queue);

  // Waits until NCCL has no call in progress and, if asked to, the queue is done.
  absl::Status Wait(const char* name, NcclComm comm, bool for_queue);

  // End all connections: with all ranks, or without those that are lost.
  void Finalize();
  void AbortAll();

  // Ends all of NCCL's work because of `reason`, and returns the error of this and of all later
  // operations: the rank that is lost, if one is.
  absl::Status Fail(const absl::Status& reason);

  const NcclLibrary& nccl_;
  Communicator& control_;
  CommunicationQueue& queue_;
  double seconds_;
  std::map<std::vector<int>, NcclComm> comms_;  // By their ranks.
  absl::Status status_;                         // The first error.
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_NCCL_COMMUNICATOR_H_
