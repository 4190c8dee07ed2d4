#include "transpose/distributed/messages.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stridewise {
namespace {

int64_t Aligned(int64_t bytes) {
  constexpr int64_t kAlignment = 256;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::vector<Message> CutMessages(const BlockCyclicLayout& in_layout,
                                 const BlockCyclicLayout& out_layout, int64_t element_bytes,
                                 int64_t message_bytes, int rank, int size) {
  const auto lines = [&](int64_t elements_of_line) {
    return std::max<int64_t>(message_bytes / std::max<int64_t>(elements_of_line * element_bytes, 1),
                             1);
  };
  std::vector<Message> messages;
  for (int step = 0; step < size; ++step) {
    const ExchangedPair pair = PairOfStep(in_layout, out_layout, rank, size, step);
    const int64_t cols = lines(pair.rows.count);
    const int64_t out_rows = lines(pair.out_cols.count);
    for (int64_t i = 0; i * cols < pair.cols.count || i * out_rows < pair.out_rows.count; ++i) {
      Message message = {pair.partner, pair.rows, Slice(pair.cols, i * cols, cols),
                         Slice(pair.out_rows, i * out_rows, out_rows), pair.out_cols};
      if (message.SendElements() + message.ReceiveElements() == 0) continue;
      messages.push_back(std::move(message));
    }
  }
  return messages;
}

std::vector<Message> TakeOwn(int rank, std::vector<Message>* messages) {
  const auto own = std::stable_partition(messages->begin(), messages->end(),
                                         [&](const Message& m) { return m.partner != rank; });
  std::vector<Message> taken(std::make_move_iterator(own),
                             std::make_move_iterator(messages->end()));
  messages->erase(own, messages->end());
  return taken;
}

void OrderForWriters(int rank, int size, std::vector<Message>* messages) {
  std::stable_sort(messages->begin(), messages->end(), [&](const Message& a, const Message& b) {
    return (a.partner - rank + size) % size < (b.partner - rank + size) % size;
  });
}

MessageSizes::MessageSizes(const std::vector<Message>& messages, int rank, int64_t element_bytes) {
  for (const Message& message : messages) {
    if (message.partner == rank) continue;
    send = std::max(send, Aligned(message.SendElements() * element_bytes));
    receive = std::max(receive, Aligned(message.ReceiveElements() * element_bytes));
  }
}

}  // namespace stridewise
