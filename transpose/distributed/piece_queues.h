// The queued work of a transpose between devices, a piece at a time: packed transposed into one of
// two buffers, unpacked from one, or written where its elements belong, here or on another device.

#ifndef STRIDEWISE_TRANSPOSE_DISTRIBUTED_PIECE_QUEUES_H_
#define STRIDEWISE_TRANSPOSE_DISTRIBUTED_PIECE_QUEUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/streaming/stream_queues.h"
#include "transpose/distributed/device_exchange.h"
#include "transpose/distributed/messages.h"
#include "transpose/permute.h"
#include "transpose/transpose.h"

namespace stridewise {

// The event of buffer 0 or 1 that says that a piece is packed there.
inline int PiecePacked(int buffer) { return buffer; }

// Borrows the queues and `permute`.
class PieceQueues {
 public:
  PieceQueues(const MatrixView& in, const MutableMatrixView& out,
              const DeviceTransposeOptions& options, const QueuedPermute& permute,
              StreamQueues* queues)
      : in_(in),
        out_(out),
        bytes_(in.element_bytes),
        least_row_bytes_(options.least_row_bytes),
        copies_at_once_(options.copies_at_once),
        permute_(permute),
        queues_(*queues) {}

  // Divides `memory` into two buffers for the messages of this rank; the queues allocate it where
  // it is null.
  absl::Status PlaceMessages(const std::vector<Message>& messages, int rank, void* memory);
  char* send(int buffer) const { return send_[buffer]; }
  char* receive(int buffer) const { return receive_[buffer]; }

  // Queues the copy of the message's elements to the buffer, column by column.
  absl::Status Pack(const Message& message, int buffer);

  // Queues the copy of the message that was received in the buffer to its rows and columns.
  absl::Status Unpack(const Message& message, int buffer);

  // Queues the transpose of elements that stay here.
  absl::Status TransposeOwn(const Message& message) {
    return TransposeInto(message, message, out_, StreamQueue::kCompute);
  }

  // Queues the transpose of what a rank's message `from` sends into `out`, the part of the rank
  // whose message `to` receives it.
  absl::Status TransposeInto(const Message& from, const Message& to, const MutableMatrixView& out,
                             StreamQueue queue);

  // Queues the transpose of what `from` sends into a buffer, and its copy to `out`, the part of the
  // rank that receives `to`. Short rows are written by the kernel that transposes.
  absl::Status Write(const Message& from, const Message& to, const MutableMatrixView& out,
                     int buffer);

 private:
  // Queues a permutation whose strides are set.
  absl::Status Queue(PermuteProblem problem, StreamQueue queue = StreamQueue::kCompute);

  const MatrixView in_;
  const MutableMatrixView out_;
  const int64_t bytes_;  // Of an element.
  const int64_t least_row_bytes_;
  const int copies_at_once_;
  const QueuedPermute& permute_;
  StreamQueues& queues_;
  char* send_[2] = {};
  char* receive_[2] = {};
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISTRIBUTED_PIECE_QUEUES_H_
