#include "common/distributed/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

absl::Status SystemError(const char* call) {
  return absl::UnavailableError(absl::StrCat(call, ": ", std::strerror(errno)));
}

// Whether the call should be made again once poll() says so.
bool IsForLater(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

bool IsWildcard(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr == htonl(INADDR_ANY);
  }
  return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

absl::StatusOr<Socket> Open(const SocketAddress& address) {
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return SystemError("socket");
  RETURN_IF_ERROR(PrepareSocket(socket));
  return socket;
}

// Waits until a connection is made or refused. Returns 0 or the error's number.
int FinishConnect(const Socket& socket, const Deadline& deadline) {
  pollfd entry = {socket.fd(), POLLOUT, 0};
  while (::poll(&entry, 1, deadline.Milliseconds()) < 0) {
    if (errno != EINTR) return errno;
  }
  if (entry.revents == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t bytes = sizeof(error);
  return ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

}  // namespace

Deadline::Deadline(double seconds) : moment_(SteadyClock().Now() + seconds) {}

int Deadline::Milliseconds() const {
  const double left = std::ceil((moment_ - SteadyClock().Now()) * 1e3);
  return static_cast<int>(
      std::clamp(left, 0.0, static_cast<double>(std::numeric_limits<int>::max())));
}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.Release();
  }
  return *this;
}

void Socket::Close() {
  const int fd = Release();
  if (fd >= 0) ::close(fd);
}

int Socket::Release() { return std::exchange(fd_, -1); }

absl::StatusOr<SocketAddress> Resolve(const std::string& variable, const std::string& host,
                                      int port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        variable, ": \"", host, "\" is not the address of a machine: ", ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  if (IsWildcard(list->ai_addr)) {
    return absl::InvalidArgumentError(absl::StrCat(
        variable, ": \"", host, "\" stands for all interfaces; allowed is the address of one"));
  }
  SocketAddress address;
  std::memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
  address.bytes = list->ai_addrlen;
  return address;
}

absl::StatusOr<Socket> Listen(const SocketAddress& address) {
  ASSIGN_OR_RETURN(Socket socket, Open(address));
  // A job may begin right behind another one on the same port.
  const int on = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address.storage), address.bytes) < 0) {
    return SystemError("bind");
  }
  if (::listen(socket.fd(), SOMAXCONN) < 0) return SystemError("listen");
  return socket;
}

absl::StatusOr<SocketAddress> LocalAddress(const Socket& socket) {
  SocketAddress address;
  address.bytes = sizeof(address.storage);
  if (::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address.storage), &address.bytes) <
      0) {
    return SystemError("getsockname");
  }
  return address;
}

absl::StatusOr<Socket> Connect(const SocketAddress& address, const Deadline& deadline) {
  constexpr int kPauseMilliseconds = 20;
  while (true) {
    ASSIGN_OR_RETURN(Socket socket, Open(address));
    int error = 0;
    if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address.storage), address.bytes) <
        0) {
      error = errno == EINPROGRESS || errno == EINTR ? FinishConnect(socket, deadline) : errno;
    }
    if (error == 0) return socket;
    if (deadline.Passed()) {
      return absl::UnavailableError(absl::StrCat("connect: ", std::strerror(error)));
    }
    ::poll(nullptr, 0, std::min(kPauseMilliseconds, deadline.Milliseconds()));
  }
}

absl::Status PrepareSocket(const Socket& socket) {
  const int flags = ::fcntl(socket.fd(), F_GETFL, 0);
  if (flags < 0 || ::fcntl(socket.fd(), F_SETFL, flags | O_NONBLOCK) < 0) {
    return SystemError("fcntl");
  }
  // Fails on sockets that are not TCP's, which have no delays.
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return absl::OkStatus();
}

absl::Status Transfer(const Socket& socket, const std::string& peer, Outgoing send,
                      Incoming receive, const Deadline& deadline, int64_t* received) {
  int64_t unused = 0;
  int64_t& in = received == nullptr ? unused : *received;
  int64_t out = 0;
  in = 0;
  while (out < send.bytes || in < receive.bytes) {
    const int wanted = (out < send.bytes ? POLLOUT : 0) | (in < receive.bytes ? POLLIN : 0);
    pollfd entry = {socket.fd(), static_cast<short>(wanted), 0};
    const int ready = ::poll(&entry, 1, deadline.Milliseconds());
    if (ready < 0 && errno != EINTR) return SystemError("poll");
    if (ready == 0 || deadline.Passed()) {
      return absl::UnavailableError(absl::StrCat(peer, " did not answer in time"));
    }
    // What came before a connection broke is read first: it may say why.
    if (in < receive.bytes) {
      const ssize_t count =
          ::recv(socket.fd(), static_cast<char*>(receive.data) + in, receive.bytes - in, 0);
      if (count == 0) return absl::UnavailableError(absl::StrCat(peer, " closed its connection"));
      if (count < 0 && !IsForLater(errno)) {
        return absl::UnavailableError(absl::StrCat(peer, " is lost: ", std::strerror(errno)));
      }
      in += std::max<ssize_t>(count, 0);
    }
    if (out < send.bytes) {
      const ssize_t count = ::send(socket.fd(), static_cast<const char*>(send.data) + out,
                                   send.bytes - out, MSG_NOSIGNAL);
      if (count < 0 && !IsForLater(errno)) {
        return absl::UnavailableError(absl::StrCat(peer, " is lost: ", std::strerror(errno)));
      }
      out += std::max<ssize_t>(count, 0);
    }
  }
  return absl::OkStatus();
}

}  // namespace stridewise
