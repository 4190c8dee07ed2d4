#include "common/distributed/rendezvous.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/distributed/socket.h"
#include "common/distributed/tcp_communicator.h"

namespace stridewise {
namespace {

constexpr uint64_t kMagic = 0x3173697765646972u;
constexpr size_t kMaxStrangers = 256;       // Connections that have not yet said who they are.
constexpr double kSecondsToIntroduce = 10;  // And how long they may take.

// What a rank says first on every connection that it makes.
struct Hello {
  uint64_t magic = kMagic;
  int32_t rank = 0;
  int32_t size = 0;
  SocketAddress listens;  // Where this rank listens.
  uint32_t token_bytes = 0;
  char token[kMaxTokenBytes] = {};
};

// A connection that has not yet said who it is.
struct Stranger {
  Socket socket;
  Hello hello;
  size_t received = 0;
  Deadline deadline{kSecondsToIntroduce};
};

Hello HelloOf(const JobEnvironment& job, const SocketAddress& listens) {
  Hello hello;
  std::memset(static_cast<void*>(&hello), 0, sizeof(hello));  // Its padding is sent too.
  hello.magic = kMagic;
  hello.rank = job.rank;
  hello.size = job.size;
  hello.listens = listens;
  hello.token_bytes = static_cast<uint32_t>(job.token.size());
  std::copy(job.token.begin(), job.token.end(), hello.token);
  return hello;
}

bool IsOfJob(const Hello& hello, const JobEnvironment& job) {
  const size_t bytes = std::min<size_t>(hello.token_bytes, kMaxTokenBytes);
  return SameInConstantTime({hello.token, bytes}, job.token) && hello.magic == kMagic &&
         hello.size == job.size && hello.rank > job.rank && hello.rank < job.size &&
         hello.listens.bytes <= sizeof(sockaddr_storage);
}

// Reads what has come. Returns false once the connection is of no use.
bool Listens(Stranger* stranger) {
  char* const hello = reinterpret_cast<char*>(&stranger->hello);
  const ssize_t count = ::recv(stranger->socket.fd(), hello + stranger->received,
                               sizeof(Hello) - stranger->received, 0);
  if (count > 0) stranger->received += count;
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

// Adds all ranks behind this one to the communicator, and to the table where they listen. At the
// deadline gives up and returns Unavailable that names the first that is missing.
absl::Status AcceptRanks(const Socket& listener, const JobEnvironment& job,
                         const Deadline& deadline, std::vector<SocketAddress>* table,
                         TcpCommunicator* communicator) {
  std::list<Stranger> strangers;
  while (true) {
    int next = job.rank + 1;
    while (next < job.size && communicator->IsConnected(next)) ++next;
    if (next == job.size) return absl::OkStatus();
    if (deadline.Passed()) {
      const absl::Status status = absl::UnavailableError(absl::StrCat(
          "rank ", next, " is missing: it did not come to rank ", job.rank, " in time"));
      communicator->GiveUp(next, status);
      return status;
    }
    std::vector<pollfd> entries = {{listener.fd(), POLLIN, 0}};
    for (const Stranger& stranger : strangers) entries.push_back({stranger.socket.fd(), POLLIN, 0});
    constexpr int kSweepMilliseconds = 500;  // For strangers that say nothing.
    ::poll(entries.data(), entries.size(), std::min(deadline.Milliseconds(), kSweepMilliseconds));

    size_t entry = 1;
    for (auto stranger = strangers.begin(); stranger != strangers.end(); ++entry) {
      bool keep = !stranger->deadline.Passed();
      if (keep && entries[entry].revents != 0) keep = Listens(&*stranger);
      if (keep && stranger->received == sizeof(Hello)) {
        const Hello& hello = stranger->hello;
        if (IsOfJob(hello, job) && !communicator->IsConnected(hello.rank)) {
          (*table)[hello.rank] = hello.listens;
          communicator->Add(hello.rank, std::move(stranger->socket));
        }
        keep = false;
      }
      stranger = keep ? std::next(stranger) : strangers.erase(stranger);
    }
    if ((entries[0].revents & POLLIN) != 0) {
      Socket socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (socket.is_open() && PrepareSocket(socket).ok()) {
        if (strangers.size() == kMaxStrangers) strangers.pop_front();
        strangers.emplace_back();
        strangers.back().socket = std::move(socket);
      }
    }
  }
}

absl::StatusOr<Socket> ConnectTo(int rank, const SocketAddress& address, const Deadline& deadline) {
  absl::StatusOr<Socket> socket = Connect(address, deadline);
  if (socket.ok()) return socket;
  return absl::UnavailableError(
      absl::StrCat("rank ", rank, " is not there: ", socket.status().message()));
}

// Listens, on any port, on the address of this end of a connection: there other ranks reach this
// machine as rank 0 does.
absl::StatusOr<Socket> ListenBeside(const Socket& connection) {
  ASSIGN_OR_RETURN(SocketAddress here, LocalAddress(connection));
  if (here.storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&here.storage)->sin6_port = 0;
  } else {
    reinterpret_cast<sockaddr_in*>(&here.storage)->sin_port = 0;
  }
  return Listen(here);
}

int64_t TableBytes(const std::vector<SocketAddress>& table) {
  return static_cast<int64_t>(table.size() * sizeof(SocketAddress));
}

}  // namespace

bool SameInConstantTime(absl::string_view a, absl::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

absl::StatusOr<std::unique_ptr<Communicator>> Rendezvous(const JobEnvironment& job,
                                                         double seconds) {
  auto communicator =
      std::make_unique<TcpCommunicator>(job.rank, std::vector<Socket>(job.size), seconds);
  if (job.size == 1) return communicator;
  const Deadline deadline(seconds);
  ASSIGN_OR_RETURN(const SocketAddress master,
                   Resolve("MASTER_ADDR", job.master_address, job.master_port));
  std::vector<SocketAddress> table(job.size);
  if (job.rank == 0) {
    absl::StatusOr<Socket> listener = Listen(master);
    if (!listener.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("MASTER_ADDR, MASTER_PORT: ", job.master_address, ", ", job.master_port,
                       " cannot be listened on by rank 0: ", listener.status().message()));
    }
    // Rank 0 gives up before those do that wait for it, so that they hear which rank is missing.
    RETURN_IF_ERROR(
        AcceptRanks(*listener, job, Deadline(0.8 * seconds), &table, communicator.get()));
    for (int rank = 1; rank < job.size; ++rank) {
      RETURN_IF_ERROR(communicator->Exchange(rank, table.data(), TableBytes(table), nullptr, 0));
    }
    return communicator;
  }

  ASSIGN_OR_RETURN(Socket to_master, ConnectTo(0, master, deadline));
  ASSIGN_OR_RETURN(const Socket listener, ListenBeside(to_master));
  ASSIGN_OR_RETURN(const SocketAddress here, LocalAddress(listener));
  const Hello hello = HelloOf(job, here);
  RETURN_IF_ERROR(Transfer(to_master, "rank 0", {&hello, sizeof(hello)}, {}, deadline));
  communicator->Add(0, std::move(to_master));
  const absl::Status answer =
      communicator->Exchange(0, nullptr, 0, table.data(), TableBytes(table));
  if (!answer.ok()) {
    return absl::UnavailableError(
        absl::StrCat(answer.message(), " (before the job began; it takes each rank once, and with ",
                     "its own STRIDEWISE_JOB_TOKEN)"));
  }
  for (int rank = 1; rank < job.rank; ++rank) {
    absl::StatusOr<Socket> socket = ConnectTo(rank, table[rank], deadline);
    absl::Status status = socket.status();
    if (status.ok()) {
      status =
          Transfer(*socket, absl::StrCat("rank ", rank), {&hello, sizeof(hello)}, {}, deadline);
    }
    if (!status.ok()) {
      communicator->GiveUp(rank, status);
      return status;
    }
    communicator->Add(rank, *std::move(socket));
  }
  RETURN_IF_ERROR(AcceptRanks(listener, job, deadline, &table, communicator.get()));
  return communicator;
}

}  // namespace stridewise
