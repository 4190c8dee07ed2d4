#include "transpose/distributed/piece_queues.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "transpose/distributed/messages.h"

namespace stridewise {
namespace {

// The event of buffer 0 or 1 that says that its piece was copied to another device. A buffer's last
// message was unpacked before, on the same queue, or else is Copied().
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

}  // namespace

absl::Status PieceQueues::PlaceMessages(const std::vector<Message>& messages, int rank,
                                        void* memory) {
  const MessageSizes sizes(messages, rank, bytes_);
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

absl::Status PieceQueues::Write(const Message& from, const Message& to,
                                const MutableMatrixView& out, int buffer) {
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
  RETURN_IF_ERROR(queues_.Wait(queue, PiecePacked(buffer)));
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

absl::Status PieceQueues::TransposeInto(const Message& from, const Message& to,
                                        const MutableMatrixView& out, StreamQueue queue) {
  const std::vector<SharedRunGroup> col_groups = GroupSharedRuns(from.cols, to.out_rows);
  for (const SharedRunGroup& rows : GroupSharedRuns(from.rows, to.out_cols)) {
    for (const SharedRunGroup& cols : col_groups) {
      PermuteProblem problem;
      problem.extents = {rows.runs, rows.count, cols.runs, cols.count};
      problem.order = {2, 3, 0, 1};
      problem.in = static_cast<const char*>(in_.data) + (rows.first * in_.ld + cols.first) * bytes_;
      problem.strides_in = {rows.stride * in_.ld, in_.ld, cols.stride, 1};
      problem.out =
          static_cast<char*>(out.data) + (cols.other_first * out.ld + rows.other_first) * bytes_;
      problem.strides_out = {cols.other_stride * out.ld, out.ld, rows.other_stride, 1};
      RETURN_IF_ERROR(Queue(problem, queue));
    }
  }
  return absl::OkStatus();
}

absl::Status PieceQueues::Queue(PermuteProblem problem, StreamQueue queue) {
  problem.rank = 4;
  problem.element_bytes = bytes_;
  return queues_.RunOn(queue, [problem, &permute = permute_](cudaStream_t stream) {
    return permute(problem, stream);
  });
}

absl::Status PieceQueues::Pack(const Message& message, int buffer) {
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
  return queues_.Record(StreamQueue::kCompute, PiecePacked(buffer));
}

absl::Status PieceQueues::Unpack(const Message& message, int buffer) {
  return ForGroups(
      message.out_rows, message.out_cols, [&](const RunGroup& rows, const RunGroup& cols) {
        const int64_t ld = message.out_cols.count;
        PermuteProblem problem;
        problem.extents = {rows.runs, rows.count, cols.runs, cols.count};
        problem.order = {0, 1, 2, 3};
        problem.in = receive_[buffer] + (rows.packed * ld + cols.packed) * bytes_;
        problem.strides_in = {rows.count * ld, ld, cols.count, 1};
        problem.out = static_cast<char*>(out_.data) + (rows.first * out_.ld + cols.first) * bytes_;
        problem.strides_out = {rows.stride * out_.ld, out_.ld, cols.stride, 1};
        return Queue(problem);
      });
}

}  // namespace stridewise
