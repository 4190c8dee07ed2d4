// What a rank of device_exchange.h sends and receives, cut into messages.

#ifndef STRIDEWISE_TRANSPOSE_DISTRIBUTED_MESSAGES_H_
#define STRIDEWISE_TRANSPOSE_DISTRIBUTED_MESSAGES_H_

#include <cstdint>
#include <vector>

#include "common/distributed/block_cyclic.h"
#include "transpose/distributed/pairs.h"

namespace stridewise {

// A part of what two ranks exchange. Either side may have nothing to send.
struct Message {
  int partner = 0;
  Selection rows, cols;          // Of `in`, sent column by column.
  Selection out_rows, out_cols;  // Of `out`, received row by row.

  int64_t SendElements() const { return rows.count * cols.count; }
  int64_t ReceiveElements() const { return out_rows.count * out_cols.count; }
};

// Divides what a rank exchanges with each other one. Partners cut the same messages from their two
// sides, since columns of `in` are rows of `out`.
std::vector<Message> CutMessages(const BlockCyclicLayout& in_layout,
                                 const BlockCyclicLayout& out_layout, int64_t element_bytes,
                                 int64_t message_bytes, int rank, int size);

// Takes those that stay on the rank out of `messages`.
std::vector<Message> TakeOwn(int rank, std::vector<Message>* messages);

// Puts them in the order in which ranks write to each other's memory without waiting for each
// other: each begins with the rank behind it, so that no two write to the same one at once. Ranks
// that meet as PairOfStep() says do that too, but only as long as all wait for the slowest. Of 1x4
// GPUs four wrote to two at first, and took 3.6 ms where the link takes 2.2.
void OrderForWriters(int rank, int size, std::vector<Message>* messages);

// The largest message each way, in bytes, each a multiple of 256.
struct MessageSizes {
  int64_t send = 0;
  int64_t receive = 0;

  MessageSizes(const std::vector<Message>& messages, int rank, int64_t element_bytes);
  int64_t OfAll() const { return 2 * (send + receive); }  // Of two messages each way.
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISTRIBUTED_MESSAGES_H_
