// What the ranks of a job say to each other: the interface of transports. tcp_communicator.h is one
// on plain sockets, nccl_communicator.h one for buffers on GPUs.
//
// Every rank runs the same program and makes the same collective calls in the same order. Buffers
// belong to the caller and are in use until the call returns.
//
// Each operation has one deadline, which the transport is made with. It includes the time that
// other ranks compute before they make their call. An operation that fails returns Unavailable, in
// one line that names the rank that is lost or did not answer in time, or Internal where ranks do
// not agree on what is sent. It fails on every rank that waits for the lost one, directly or
// through others; afterwards every operation of the communicator returns the same error. So one
// lost rank ends all.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_COMMUNICATOR_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_COMMUNICATOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace stridewise {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Sends to a rank and receives from it at the same time. The partner calls Exchange() with this
  // rank and with the two sizes exchanged; either may be 0. Where the partner is this rank, copies;
  // both sizes must then be the same.
  virtual absl::Status Exchange(int partner, const void* send, int64_t send_bytes, void* receive,
                                int64_t receive_bytes) = 0;

  // Copies `data` of the root to all of `ranks`, which are in the same order on each of them and
  // include the root. Only these ranks make the call.
  virtual absl::Status Broadcast(absl::Span<const int> ranks, int root, void* data,
                                 int64_t bytes) = 0;

  // Replaces each value by its sum over all ranks: the same bits on each of them.
  virtual absl::Status Sum(absl::Span<double> values) = 0;

  // Returns when all ranks have called it.
  virtual absl::Status Barrier() = 0;

  // Returns, without waiting for anybody, the error that the next operation would find: that of a
  // rank that is known to be lost. Only this rank makes the call.
  virtual absl::Status CheckRanks() = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_COMMUNICATOR_H_
