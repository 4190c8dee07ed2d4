#include "transpose/distributed/device_exchange.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "transpose/distributed/messages.h"
#include "transpose/distributed/pairs.h"
#include "transpose/distributed/piece_queues.h"

namespace stridewise {
namespace {

class DeviceTranspose {
 public:
  DeviceTranspose(const MatrixView& in, const MutableMatrixView& out,
                  const DeviceTransposeOptions& options, const QueuedPermute& permute,
                  StreamQueues* queues, Communicator* communicator)
      : pieces_(in, out, options, permute, queues),
        element_bytes_(in.element_bytes),
        queues_(*queues),
        communicator_(*communicator) {}

  // `memory` is that of the messages; null where the queues allocate it.
  absl::Status Run(std::vector<Message> messages, void* memory) {
    RETURN_IF_ERROR(queues_.Enter());
    const std::vector<Message> own = TakeOwn(communicator_.rank(), &messages);
    RETURN_IF_ERROR(pieces_.PlaceMessages(messages, communicator_.rank(), memory));
    size_t own_done = 0;
    if (!messages.empty()) RETURN_IF_ERROR(pieces_.Pack(messages[0], 0));
    for (size_t i = 0; i < messages.size(); ++i) {
      const Message& message = messages[i];
      const auto buffer = static_cast<int>(i % 2);
      RETURN_IF_ERROR(queues_.WaitOnHost(PiecePacked(buffer)));
      // While this message travels. What the other buffer held has been sent.
      if (i + 1 < messages.size()) RETURN_IF_ERROR(pieces_.Pack(messages[i + 1], 1 - buffer));
      if (own_done < own.size()) RETURN_IF_ERROR(pieces_.TransposeOwn(own[own_done++]));
      RETURN_IF_ERROR(communicator_.Exchange(
          message.partner, pieces_.send(buffer), message.SendElements() * element_bytes_,
          pieces_.receive(buffer), message.ReceiveElements() * element_bytes_));
      RETURN_IF_ERROR(pieces_.Unpack(message, buffer));
    }
    while (own_done < own.size()) RETURN_IF_ERROR(pieces_.TransposeOwn(own[own_done++]));
    return queues_.Finish();
  }

  // Copies and writes to where the elements belong. `cut` returns the pieces of a rank. A kernel
  // writes the first one over the link while the second is transposed, for which the copies would
  // wait otherwise.
  absl::Status RunDirect(const std::function<std::vector<Message>(int rank)>& cut,
                         const std::vector<MutableMatrixView>& parts_of_out, void* memory) {
    RETURN_IF_ERROR(queues_.Enter());
    const int rank = communicator_.rank();
    std::vector<Message> mine = cut(rank);
    const std::vector<Message> own = TakeOwn(rank, &mine);
    OrderForWriters(rank, communicator_.size(), &mine);
    RETURN_IF_ERROR(pieces_.PlaceMessages(mine, rank, memory));
    RETURN_IF_ERROR(communicator_.Barrier());  // All parts may be written.
    size_t own_done = 0;
    int partner = rank;
    std::vector<Message> theirs;  // What the partner receives from this rank, in the same order.
    size_t next = 0;
    for (size_t i = 0; i < mine.size(); ++i) {
      if (mine[i].partner != partner) {
        partner = mine[i].partner;
        theirs.clear();
        next = 0;
        for (Message& piece : cut(partner)) {
          if (piece.partner == rank) theirs.push_back(std::move(piece));
        }
      }
      const MutableMatrixView& out = parts_of_out[partner];
      const Message& to = theirs[next++];
      RETURN_IF_ERROR(i == 0 ? pieces_.TransposeInto(mine[i], to, out, StreamQueue::kIn)
                             : pieces_.Write(mine[i], to, out, static_cast<int>(i % 2)));
      if (own_done < own.size()) RETURN_IF_ERROR(pieces_.TransposeOwn(own[own_done++]));
    }
    while (own_done < own.size()) RETURN_IF_ERROR(pieces_.TransposeOwn(own[own_done++]));
    RETURN_IF_ERROR(queues_.Finish());
    return communicator_.Barrier();  // This rank's part is written.
  }

 private:
  PieceQueues pieces_;
  const int64_t element_bytes_;
  StreamQueues& queues_;
  Communicator& communicator_;
};

}  // namespace

int64_t TransposeMessageBytes(const BlockCyclicLayout& in_layout,
                              const BlockCyclicLayout& out_layout, int64_t element_bytes,
                              const DeviceTransposeOptions& options, int rank, int size) {
  return MessageSizes(
             CutMessages(in_layout, out_layout, element_bytes, options.message_bytes, rank, size),
             rank, element_bytes)
      .OfAll();
}

absl::Status DistributedTransposeOnDevice(const BlockCyclicLayout& in_layout, const MatrixView& in,
                                          const BlockCyclicLayout& out_layout,
                                          const MutableMatrixView& out,
                                          const DeviceTransposeOptions& options,
                                          const QueuedPermute& permute, StreamQueues* queues,
                                          Communicator* communicator, void* messages) {
  RETURN_IF_ERROR(CheckTransposedParts(in_layout, in, out_layout, out, *communicator));
  const int64_t bytes = in.element_bytes;
  if (bytes > 16 || (bytes & (bytes - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "in: elements of ", bytes, " bytes are not allowed; allowed is 1, 2, 4, 8 and 16"));
  }
  if (std::min(options.message_bytes, options.piece_bytes) < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("message_bytes, piece_bytes: ", options.message_bytes, ", ",
                     options.piece_bytes, " are not allowed; allowed is 1 or more"));
  }
  if (options.copies_at_once != 1 && options.copies_at_once != 2) {
    return absl::InvalidArgumentError(absl::StrCat("copies_at_once: ", options.copies_at_once,
                                                   " is not allowed; allowed is 1 or 2"));
  }
  if (!options.parts_of_out.empty() &&
      static_cast<int>(options.parts_of_out.size()) != communicator->size()) {
    return absl::InvalidArgumentError(absl::StrCat("parts_of_out: ", options.parts_of_out.size(),
                                                   " are not allowed; allowed are those of all ",
                                                   communicator->size(), " ranks"));
  }
  DeviceTranspose transpose(in, out, options, permute, queues, communicator);
  const int64_t piece_bytes = std::min(options.piece_bytes, options.message_bytes);
  const auto cut = [&](int64_t message_bytes, int rank) {
    return CutMessages(in_layout, out_layout, bytes, message_bytes, rank, communicator->size());
  };
  const absl::Status status =
      options.parts_of_out.empty()
          ? transpose.Run(cut(options.message_bytes, communicator->rank()), messages)
          : transpose.RunDirect([&](int rank) { return cut(piece_bytes, rank); },
                                options.parts_of_out, messages);
  // What is queued still uses the arguments.
  if (!status.ok()) queues->Finish().IgnoreError();
  return status;
}

}  // namespace stridewise
