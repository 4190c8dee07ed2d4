#include "transpose/distributed/messages.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace stridewise {
namespace {

int64_t Aligned(int64_t bytes) {
  constexpr int64_t kAlignment = 256;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Divides lines of so many bytes into messages of whole lines: the first of `first` bytes, each
// further one of twice as many as the one before, up to `most`.
std::vector<int64_t> Cuts(int64_t lines, int64_t line_bytes, int64_t first, int64_t most) {
  std::vector<int64_t> begins = {0};
  for (int64_t bytes = first; begins.back() < lines; bytes = std::min(2 * bytes, most)) {
    const int64_t count = std::max<int64_t>(bytes / std::max<int64_t>(line_bytes, 1), 1);
    begins.push_back(std::min(lines, begins.back() + count));
  }
  return begins;
}

Selection Part(const Selection& selection, const std::vector<int64_t>& cuts, size_t number) {
  if (number + 1 >= cuts.size()) return {};
  return Slice(selection, cuts[number], cuts[number + 1] - cuts[number]);
}

}  // namespace

std::vector<Message> CutMessages(const BlockCyclicLayout& in_layout,
                                 const BlockCyclicLayout& out_layout, int64_t element_bytes,
                                 int64_t message_bytes, int rank, int size, int64_t first_bytes) {
  const auto cuts = [&](int64_t lines, int64_t elements, int from, int to) {
    const bool is_first = first_bytes > 0 && from != to && to == (from + 1) % size;
    return Cuts(lines, elements * element_bytes,
                is_first ? std::min(first_bytes, message_bytes) : message_bytes, message_bytes);
  };
  std::vector<Message> messages;
  for (int step = 0; step < size; ++step) {
    const ExchangedPair pair = PairOfStep(in_layout, out_layout, rank, size, step);
    const auto cols = cuts(pair.cols.count, pair.rows.count, rank, pair.partner);
    const auto out_rows = cuts(pair.out_rows.count, pair.out_cols.count, pair.partner, rank);
    for (size_t i = 0; i + 1 < std::max(cols.size(), out_rows.size()); ++i) {
      Message message = {pair.partner, pair.rows, Part(pair.cols, cols, i),
                         Part(pair.out_rows, out_rows, i), pair.out_cols};
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
