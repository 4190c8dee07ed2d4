// Non-blocking stream sockets with deadlines: what the TCP transport consists of.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_SOCKET_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_SOCKET_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stridewise {

// A moment after which an operation gives up.
class Deadline {
 public:
  explicit Deadline(double seconds);

  // Returns the time left as poll() takes it, rounded up; 0 once the moment has passed.
  int Milliseconds() const;
  bool Passed() const { return Milliseconds() == 0; }

 private:
  double moment_;
};

// Owns a file descriptor and closes it.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.Release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { Close(); }

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void Close();

 private:
  int Release();

  int fd_ = -1;
};

// An address and port, in IPv4 or IPv6.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t bytes = 0;
};

// Looks up a name or number. Returns InvalidArgument, naming `variable`, where there is none, and
// for addresses that stand for all interfaces.
absl::StatusOr<SocketAddress> Resolve(const std::string& variable, const std::string& host,
                                      int port);

// Listens on this address only. Port 0 takes any that is free.
absl::StatusOr<Socket> Listen(const SocketAddress& address);

// Returns the address of this end of a socket.
absl::StatusOr<SocketAddress> LocalAddress(const Socket& socket);

// Connects, and tries again while nobody listens, until the deadline. Returns Unavailable
// afterwards.
absl::StatusOr<Socket> Connect(const SocketAddress& address, const Deadline& deadline);

// Makes a connected socket non-blocking and, on TCP, free of delays.
absl::Status PrepareSocket(const Socket& socket);

// One direction of a transfer.
struct Outgoing {
  const void* data = nullptr;
  int64_t bytes = 0;
};
struct Incoming {
  void* data = nullptr;
  int64_t bytes = 0;
};

// Sends and receives all of both at the same time. Returns Unavailable that begins with `peer` if
// the other end closes the connection, or at the deadline. `received`, unless null, is set to the
// number of bytes that came, also then.
absl::Status Transfer(const Socket& socket, const std::string& peer, Outgoing send,
                      Incoming receive, const Deadline& deadline, int64_t* received = nullptr);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_SOCKET_H_
