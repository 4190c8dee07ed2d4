#include "common/distributed/tcp_communicator.h"

#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace stridewise {

struct MessageHeader {
  int64_t bytes = 0;       // Of the data behind it.
  int64_t lost_rank = -1;  // Or the rank that the sender gives up because of.
};

namespace {

std::string NameOf(int rank) { return absl::StrCat("rank ", rank); }

}  // namespace

TcpCommunicator::TcpCommunicator(int rank, std::vector<Socket> sockets, double seconds_an_operation)
    : rank_(rank), sockets_(std::move(sockets)), seconds_(seconds_an_operation) {}

void TcpCommunicator::GiveUp(int lost, const absl::Status& status) {
  if (!status_.ok()) return;
  status_ = status;
  const MessageHeader header = {0, lost};
  for (int peer = 0; peer < size(); ++peer) {
    if (peer == rank_ || peer == lost || !sockets_[peer].is_open()) continue;
    // Messages to others are complete: each operation talks to one rank at a time. A connection
    // that takes nothing more now is broken when this rank ends.
    Transfer(sockets_[peer], NameOf(peer), {&header, sizeof(header)}, {}, Deadline(0.1))
        .IgnoreError();
  }
  sockets_[lost].Close();
}

absl::Status TcpCommunicator::CheckHeader(int peer, const MessageHeader& header, int64_t bytes) {
  if (header.lost_rank >= 0 && header.lost_rank < size()) {
    const int lost = static_cast<int>(header.lost_rank);
    GiveUp(lost, absl::UnavailableError(
                     absl::StrCat(NameOf(lost), " is lost, says ", NameOf(peer), ", which ends")));
  } else if (header.bytes != bytes) {
    GiveUp(peer, absl::InternalError(absl::StrCat(NameOf(peer), " sends ", header.bytes,
                                                  " bytes, and ", bytes, " are expected")));
  }
  return status_;
}

absl::Status TcpCommunicator::Lose(int peer, const absl::Status& status) {
  MessageHeader header;
  int64_t received = 0;
  // A moment: what came before the connection broke is there already.
  Transfer(sockets_[peer], NameOf(peer), {}, {&header, sizeof(header)}, Deadline(0.01), &received)
      .IgnoreError();
  if (received == sizeof(header) && header.lost_rank >= 0) return CheckHeader(peer, header, 0);
  GiveUp(peer, status);
  return status_;
}

absl::Status TcpCommunicator::SendTo(int peer, Outgoing message, const Deadline& deadline) {
  const MessageHeader header = {message.bytes, -1};
  absl::Status status =
      Transfer(sockets_[peer], NameOf(peer), {&header, sizeof(header)}, {}, deadline);
  if (status.ok()) status = Transfer(sockets_[peer], NameOf(peer), message, {}, deadline);
  return status.ok() ? status : Lose(peer, status);
}

absl::Status TcpCommunicator::ReceiveFrom(int peer, Incoming message, const Deadline& deadline) {
  MessageHeader header;
  absl::Status status =
      Transfer(sockets_[peer], NameOf(peer), {}, {&header, sizeof(header)}, deadline);
  if (!status.ok()) {
    GiveUp(peer, status);
    return status_;
  }
  RETURN_IF_ERROR(CheckHeader(peer, header, message.bytes));
  status = Transfer(sockets_[peer], NameOf(peer), {}, message, deadline);
  if (!status.ok()) GiveUp(peer, status);
  return status_;
}

absl::Status TcpCommunicator::Exchange(int partner, const void* send, int64_t send_bytes,
                                       void* receive, int64_t receive_bytes) {
  RETURN_IF_ERROR(status_);
  if (partner < 0 || partner >= size() || send_bytes < 0 || receive_bytes < 0 ||
      (partner == rank_ && send_bytes != receive_bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("Exchange: partner ", partner, ", ", send_bytes,
                                                   " bytes and ", receive_bytes,
                                                   " bytes are not allowed among ", size()));
  }
  if (partner == rank_) {
    if (send_bytes > 0) std::memcpy(receive, send, send_bytes);
    return absl::OkStatus();
  }
  const Deadline deadline(seconds_);
  const MessageHeader mine = {send_bytes, -1};
  MessageHeader header;
  int64_t received = 0;
  absl::Status status = Transfer(sockets_[partner], NameOf(partner), {&mine, sizeof(mine)},
                                 {&header, sizeof(header)}, deadline, &received);
  if (received == sizeof(header)) RETURN_IF_ERROR(CheckHeader(partner, header, receive_bytes));
  if (status.ok()) {
    status = Transfer(sockets_[partner], NameOf(partner), {send, send_bytes},
                      {receive, receive_bytes}, deadline);
  }
  if (!status.ok()) GiveUp(partner, status);
  return status_;
}

absl::Status TcpCommunicator::Broadcast(absl::Span<const int> ranks, int root, void* data,
                                        int64_t bytes) {
  return BroadcastUntil(ranks, root, data, bytes, Deadline(seconds_));
}

absl::Status TcpCommunicator::BroadcastUntil(absl::Span<const int> ranks, int root, void* data,
                                             int64_t bytes, const Deadline& deadline) {
  RETURN_IF_ERROR(status_);
  const auto count = static_cast<int64_t>(ranks.size());
  const auto position_of = [&](int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
  };
  const int64_t first = position_of(root);
  const int64_t mine = position_of(rank_);
  if (first == count || mine == count || bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat("Broadcast: root ", root, ", rank ", rank_,
                                                   " and ", bytes, " bytes are not allowed"));
  }
  // Positions from the root. The one with the lowest bit b set receives from the position without
  // that bit, and sends to those with one bit below b.
  const int64_t position = (mine - first + count) % count;
  const auto rank_at = [&](int64_t p) { return ranks[(p + first) % count]; };
  int64_t bit = 1;
  while (bit < count && (position & bit) == 0) bit *= 2;
  if (position != 0) RETURN_IF_ERROR(ReceiveFrom(rank_at(position - bit), {data, bytes}, deadline));
  for (bit /= 2; bit > 0; bit /= 2) {
    if (position + bit >= count) continue;
    RETURN_IF_ERROR(SendTo(rank_at(position + bit), {data, bytes}, deadline));
  }
  return absl::OkStatus();
}

absl::Status TcpCommunicator::Sum(absl::Span<double> values) {
  RETURN_IF_ERROR(status_);
  const Deadline deadline(seconds_);
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(double));
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank) ranks.push_back(rank);
  if (rank_ == 0) {
    std::vector<double> others(values.size());
    for (int peer = 1; peer < size(); ++peer) {
      RETURN_IF_ERROR(ReceiveFrom(peer, {others.data(), bytes}, deadline));
      for (size_t i = 0; i < values.size(); ++i) values[i] += others[i];
    }
  } else {
    RETURN_IF_ERROR(SendTo(0, {values.data(), bytes}, deadline));
  }
  return BroadcastUntil(ranks, 0, values.data(), bytes, deadline);
}

absl::Status TcpCommunicator::Barrier() { return Sum({}); }

absl::Status TcpCommunicator::CheckRanks() {
  for (int peer = 0; status_.ok() && peer < size(); ++peer) {
    if (!sockets_[peer].is_open()) continue;
    MessageHeader header;
    const ssize_t received =
        ::recv(sockets_[peer].fd(), &header, sizeof(header), MSG_PEEK | MSG_DONTWAIT);
    if (received == 0) {
      GiveUp(peer, absl::UnavailableError(absl::StrCat(NameOf(peer), " closed the connection")));
    } else if (received < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      GiveUp(peer, absl::UnavailableError(
                       absl::StrCat(NameOf(peer), " is lost: ", std::strerror(errno))));
    } else if (received == sizeof(header) && header.lost_rank >= 0) {
      return CheckHeader(peer, header, 0);
    }  // Else nothing came, or a message that is for a later operation.
  }
  return status_;
}

}  // namespace stridewise
