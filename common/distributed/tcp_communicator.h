// The communicator on stream sockets: one connection between every two ranks.
//
// A message is a header of 16 bytes and its data. Before a rank gives up it sends a header with the
// number of the rank that is lost on its other connections, so that all ranks name the same one.
// Broadcasts go along a binomial tree; sums are made on rank 0 in the order of ranks.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_TCP_COMMUNICATOR_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_TCP_COMMUNICATOR_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/distributed/communicator.h"
#include "common/distributed/socket.h"

namespace stridewise {

class TcpCommunicator : public Communicator {
 public:
  // sockets[r] is connected to rank r and prepared by PrepareSocket(), or not open: then Add()
  // comes before the first operation with that rank. That of this rank is not open. rendezvous.h
  // makes them.
  TcpCommunicator(int rank, std::vector<Socket> sockets, double seconds_an_operation);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(sockets_.size()); }
  absl::Status Exchange(int partner, const void* send, int64_t send_bytes, void* receive,
                        int64_t receive_bytes) override;
  absl::Status Broadcast(absl::Span<const int> ranks, int root, void* data, int64_t bytes) override;
  absl::Status Sum(absl::Span<double> values) override;
  absl::Status Barrier() override;
  absl::Status CheckRanks() override;

  void Add(int peer, Socket socket) { sockets_[peer] = std::move(socket); }
  bool IsConnected(int peer) const { return sockets_[peer].is_open(); }

  // Tells all ranks that `lost` is, and makes every later operation fail with `status`.
  void GiveUp(int lost, const absl::Status& status);

 private:
  // Send and receive one message.
  absl::Status SendTo(int peer, Outgoing message, const Deadline& deadline);
  absl::Status ReceiveFrom(int peer, Incoming message, const Deadline& deadline);
  absl::Status BroadcastUntil(absl::Span<const int> ranks, int root, void* data, int64_t bytes,
                              const Deadline& deadline);
  // Judges the header that a rank sent.
  absl::Status CheckHeader(int peer, const struct MessageHeader& header, int64_t bytes);
  // Gives up because of `peer`, whose connection failed with `status`, unless it has left word of
  // why. Returns the reason.
  absl::Status Lose(int peer, const absl::Status& status);

  int rank_;
  std::vector<Socket> sockets_;
  double seconds_;
  absl::Status status_;  // The first error.
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_TCP_COMMUNICATOR_H_
