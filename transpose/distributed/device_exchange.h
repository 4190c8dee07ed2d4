// The transpose of exchange.h with the parts in the memory of a device: a message is transposed as
// it is packed, the next one is packed and the one before unpacked while it travels.
//
// Messages are pieces of what two ranks exchange, so that also two ranks, who meet only once,
// overlap the three. Each element that travels is read and written twice in the memory of a device,
// once as it is sent and once as it comes: a memory of 4 TB/s keeps up with 1 TB/s each way of the
// link. What stays on a rank is transposed at once, in pieces between the messages.

#ifndef STRIDEWISE_TRANSPOSE_DISTRIBUTED_DEVICE_EXCHANGE_H_
#define STRIDEWISE_TRANSPOSE_DISTRIBUTED_DEVICE_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/communicator.h"
#include "common/streaming/stream_queues.h"
#include "transpose/permute.h"
#include "transpose/transpose.h"

namespace stridewise {

// Queues a permutation of what is in the device's memory: Permute().
using QueuedPermute = std::function<absl::Status(const PermuteProblem&, cudaStream_t)>;

struct DeviceTransposeOptions {
  // A message's size: more than one row of it only where they fit. The same on all ranks. NCCL
  // sends 256 MB at 0.8 of the rate of the longest messages, and 64 MB at 0.7.
  int64_t message_bytes = int64_t{256} << 20;

  // Where this rank's device reaches the part of `out` of each rank, by rank (peer_memory.h).
  // Without them ranks send messages. With them each copies what it has transposed to where it
  // belongs, which is nobody's to unpack, and the copies take no multiprocessor. All ranks have
  // them or none.
  std::vector<MutableMatrixView> parts_of_out;
  // With parts: what is transposed and copied at once, and no more than a message. The first is
  // written over the link by the kernel that transposes it, meanwhile the second is transposed.
  int64_t piece_bytes = int64_t{128} << 20;
  // With parts: 1, or 2 for pieces on two queues in turn, so that a copy starts while the one
  // before runs. Both take as long on H200.
  int copies_at_once = 1;
  // With parts: shorter rows of blocks are not copied but written over the link by the kernel that
  // transposes them, since a copy takes some time for each row.
  int64_t least_row_bytes = 2048;
};

// Returns the bytes of the messages that a rank of `size` holds during the call.
// REQUIRES: layouts, elements and options are those of a call that is not refused.
int64_t TransposeMessageBytes(const BlockCyclicLayout& in_layout,
                              const BlockCyclicLayout& out_layout, int64_t element_bytes,
                              const DeviceTransposeOptions& options, int rank, int size);

// Returns on how many multiprocessors kCompute of a rank's queues should run for a transpose with
// parts_of_out (cuda_stream_queues.h), 0 for all. Kernels at the memory's full rate take it from
// the copies, which everybody waits for; the others write the first piece. Each multiprocessor of
// an H100 reads and writes 43 GB/s: 48 of 132 leave copies at 380 GB/s each way what they need of
// its memory, and still transpose twice as much as the link takes. On all of them 32768 floats on
// 1x2 take a tenth longer.
int TransposeMultiprocessors(const BlockCyclicLayout& in_layout,
                             const BlockCyclicLayout& out_layout, int rank);

// out(c, r) = in(r, c), with the parts of the calling rank in the device's memory, and returns when
// `out` is written. All ranks of the communicator make the call; its Exchange() takes the device's
// memory (nccl_communicator.h). The queues are this call's alone. `messages` is
// TransposeMessageBytes() bytes of the device's memory, aligned to 256, for two messages each way;
// without it the queues allocate as much, and keep it until they end. Waits for nothing that the
// caller queued elsewhere.
//
// Returns what DistributedTranspose() does, also InvalidArgument for elements that are not of 1, 2,
// 4, 8 or 16 bytes, for messages and pieces of less than a byte, for other than 1 or 2 copies at
// once, and for parts of other than all ranks; ResourceExhausted where the device has no memory for
// the messages.
absl::Status DistributedTransposeOnDevice(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                          const BlockCyclicLayout& out_layout,
                                          const MutableMatrixView& out,
                                          const DeviceTransposeOptions& options,
                                          const QueuedPermute& permute, StreamQueues* queues,
                                          Communicator* communicator, void* messages = nullptr);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISTRIBUTED_DEVICE_EXCHANGE_H_
