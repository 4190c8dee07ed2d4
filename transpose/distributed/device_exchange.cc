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

namespace stridewise {
namespace {

// The events of buffer 0 or 1. A buffer's last message was unpacked before, on the same queue, or
// else is Copied().
int Packed(int buffer) { return buffer; }
int Copied(int buffer) { return 2 + buffer; }

// Calls run(rows, cols) for each pair of groups.
template <typename Run>
absl::Status ForGroups(const Selection& rows, const Selection& cols, Run run) {
  const std::vector<RunGroup> col_groups = GroupRuns(cols);
  for (const RunGroup& row_group : GroupRuns(rows)) {
    for (const RunGroup& col_group : col_groups) RETURN_IF_ERROR(run(row_group, col_group));
  }
  return absl::OkStatus();
}

class DeviceTranspose {
 public:
  DeviceTranspose(const MatrixView& in, const MutableMatrixView& out,
                  const DeviceTransposeOptions& options, const QueuedPermute& permute,
                  StreamQueues* queues, Communicator* communicator)
      : in_(in),
        out_(out),
        bytes_(in.element_bytes),
        least_row_bytes_(options.least_row_bytes),
        copies_at_once_(options.copies_at_once),
        permute_(permute),
        queues_(*queues),
        communicator_(*communicator) {}

  // `memory` is that of the messages; null where the queues allocate it.
  absl::Status Run(std::vector<Message> messages, void* memory) {
    RETURN_IF_ERROR(queues_.Enter());
    const std::vector<Message> own = TakeOwn(communicator_.rank(), &messages);
    RETURN_IF_ERROR(PlaceMessages(messages, memory));
    size_t own_done = 0;
    if (!messages.empty()) RETURN_IF_ERROR(Pack(messages[0], 0));
    for (size_t i = 0; i < messages.size(); ++i) {
      const Message& message = messages[i];
      const auto buffer = static_cast<int>(i % 2);
      RETURN_IF_ERROR(queues_.WaitOnHost(Packed(buffer)));
      // While this message travels. What the other buffer held has been sent.
      if (i + 1 < messages.size()) RETURN_IF_ERROR(Pack(messages[i + 1], 1 - buffer));
      if (own_done < own.size()) RETURN_IF_ERROR(TransposeOwn(own[own_done++]));
      RETURN_IF_ERROR(communicator_.Exchange(message.partner, send_[buffer],
                                             message.SendElements() * bytes_, receive_[buffer],
                                             message.ReceiveElements() * bytes_));
      RETURN_IF_ERROR(Unpack(message, receive_[buffer]));
    }
    while (own_done < own.size()) RETURN_IF_ERROR(TransposeOwn(own[own_done++]));
    return queues_.Finish();
  }

  // Copies and writes to where the elements belong. `pieces` returns those of a rank. A kernel
  // writes the first one over the link while the second is transposed, for which the copies would
  // wait otherwise.
  absl::Status RunDirect(const std::function<std::vector<Message>(int rank)>& pieces,
                         const std::vector<MutableMatrixView>& parts_of_out, void* memory) {
    RETURN_IF_ERROR(queues_.Enter());
    const int rank = communicator_.rank();
    std::vector<Message> mine = pieces(rank);
    const std::vector<Message> own = TakeOwn(rank, &mine);
    OrderForWriters(rank, communicator_.size(), &mine);
    RETURN_IF_ERROR(PlaceMessages(mine, memory));
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
        for (Message& piece : pieces(partner)) {
          if (piece.partner == rank) theirs.push_back(std::move(piece));
        }
      }
      const MutableMatrixView& out = parts_of_out[partner];
      const Message& to = theirs[next++];
      RETURN_IF_ERROR(i == 0 ? TransposeInto(mine[i], to, out, StreamQueue::kIn)
                             : WritePiece(mine[i], to, out, static_cast<int>(i % 2)));
      if (own_done < own.size()) RETURN_IF_ERROR(TransposeOwn(own[own_done++]));
    }
    while (own_done < own.size()) RETURN_IF_ERROR(TransposeOwn(own[own_done++]));
    RETURN_IF_ERROR(queues_.Finish());
    return communicator_.Barrier();  // This rank's part is written.
  }

 private:
  absl::Status PlaceMessages(const std::vector<Message>& messages, void* memory) {
    const MessageSizes sizes(messages, communicator_.rank(), bytes_);
    if (sizes.OfAll() == 0) return absl::OkStatus();
    if (memory == nullptr) {
      ASSIGN_OR_RETURN(memory, queues_.Allocate(sizes.OfAll()));
    }
    char* next = static_cast<char*>(memory);
    for (int buffer = 0; buffer < 2; ++buffer) {
      send_[buffer] = next;
      receive_[buffer] = next + sizes.send;
      next += sizes.send + sizes.receive;
    }
    return absl::OkStatus();
  }

  // Queues the transpose of what `from` sends into a buffer, and its copy to `out`, the part of the
  // rank that receives `to`. Short rows are written by the kernel that transposes.
  absl::Status WritePiece(const Message& from, const Message& to, const MutableMatrixView& out,
                          int buffer) {
    bool is_narrow = false;
    for (const auto& run : to.out_cols.runs) {
      is_narrow = is_narrow || run.count * bytes_ < least_row_bytes_;
    }
    if (is_narrow) return TransposeInto(from, to, out, StreamQueue::kOut);
    RETURN_IF_ERROR(queues_.Wait(StreamQueue::kCompute, Copied(buffer)));
    RETURN_IF_ERROR(Pack(from, buffer));
    // Nothing comes in from the host here.
    const StreamQueue queue =
        copies_at_once_ == 2 && buffer == 1 ? StreamQueue::kIn : StreamQueue::kOut;
    RETURN_IF_ERROR(queues_.Wait(queue, Packed(buffer)));
    int64_t row = 0;  // Of the buffer, whose rows are those of `to`.
    for (const auto& rows : to.out_rows.runs) {
      int64_t col = 0;
      for (const auto& cols : to.out_cols.runs) {
        BlockCopy copy;
        copy.to = static_cast<char*>(out.data) + (rows.first * out.ld + cols.first) * bytes_;
        copy.to_pitch = out.ld * bytes_;
        copy.from = send_[buffer] + (row * to.out_cols.count + col) * bytes_;
        copy.from_pitch = to.out_cols.count * bytes_;
        copy.row_bytes = cols.count * bytes_;
        copy.rows = rows.count;
        RETURN_IF_ERROR(queues_.Copy(queue, copy));
        col += cols.count;
      }
      row += rows.count;
    }
    return queues_.Record(queue, Copied(buffer));
  }

  // Queues the transpose of elements that stay here.
  absl::Status TransposeOwn(const Message& message) {
    return TransposeInto(message, message, out_, StreamQueue::kCompute);
  }

  // Queues the transpose of what a rank's message `from` sends into `out`, the part of the rank
  // whose message `to` receives it.
  absl::Status TransposeInto(const Message& from, const Message& to, const MutableMatrixView& out,
                             StreamQueue queue) {
    const std::vector<SharedRunGroup> col_groups = GroupSharedRuns(from.cols, to.out_rows);
    for (const SharedRunGroup& rows : GroupSharedRuns(from.rows, to.out_cols)) {
      for (const SharedRunGroup& cols : col_groups) {
        PermuteProblem problem;
        problem.extents = {rows.runs, rows.count, cols.runs, cols.count};
        problem.order = {2, 3, 0, 1};
        problem.in =
            static_cast<const char*>(in_.data) + (rows.first * in_.ld + cols.first) * bytes_;
        problem.strides_in = {rows.stride * in_.ld, in_.ld, cols.stride, 1};
        problem.out =
            static_cast<char*>(out.data) + (cols.other_first * out.ld + rows.other_first) * bytes_;
        problem.strides_out = {cols.other_stride * out.ld, out.ld, rows.other_stride, 1};
        RETURN_IF_ERROR(Queue(problem, queue));
      }
    }
    return absl::OkStatus();
  }

  // Queues a permutation whose strides are set.
  absl::Status Queue(PermuteProblem problem, StreamQueue queue = StreamQueue::kCompute) {
    problem.rank = 4;
    problem.element_bytes = bytes_;
    return queues_.RunOn(queue, [problem, &permute = permute_](cudaStream_t stream) {
      return permute(problem, stream);
    });
  }

  // Queues the copy of the message's elements to the buffer, column by column.
  absl::Status Pack(const Message& message, int buffer) {
    RETURN_IF_ERROR(
        ForGroups(message.rows, message.cols, [&](const RunGroup& rows, const RunGroup& cols) {
          const int64_t ld = message.rows.count;
          PermuteProblem problem;
          problem.extents = {rows.runs, rows.count, cols.runs, cols.count};
          problem.order = {2, 3, 0, 1};
          problem.in =
              static_cast<const char*>(in_.data) + (rows.first * in_.ld + cols.first) * bytes_;
          problem.strides_in = {rows.stride * in_.ld, in_.ld, cols.stride, 1};
          problem.out = send_[buffer] + (cols.packed * ld + rows.packed) * bytes_;
          problem.strides_out = {cols.count * ld, ld, rows.count, 1};
          return Queue(problem);
        }));
    return queues_.Record(StreamQueue::kCompute, Packed(buffer));
  }

  // Queues the copy of the message that lies at `from` to its rows and columns.
  absl::Status Unpack(const Message& message, const char* from) {
    return ForGroups(
        message.out_rows, message.out_cols, [&](const RunGroup& rows, const RunGroup& cols) {
          const int64_t ld = message.out_cols.count;
          PermuteProblem problem;
          problem.extents = {rows.runs, rows.count, cols.runs, cols.count};
          problem.order = {0, 1, 2, 3};
          problem.in = from + (rows.packed * ld + cols.packed) * bytes_;
          problem.strides_in = {rows.count * ld, ld, cols.count, 1};
          problem.out =
              static_cast<char*>(out_.data) + (rows.first * out_.ld + cols.first) * bytes_;
          problem.strides_out = {rows.stride * out_.ld, out_.ld, cols.stride, 1};
          return Queue(problem);
        });
  }

  const MatrixView in_;
  const MutableMatrixView out_;
  const int64_t bytes_;  // Of an element.
  const int64_t least_row_bytes_;
  const int copies_at_once_;
  const QueuedPermute& permute_;
  StreamQueues& queues_;
  Communicator& communicator_;
  char* send_[2] = {};
  char* receive_[2] = {};
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
