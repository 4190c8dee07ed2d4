// Runs the ranks of a job as threads of this process, connected by pairs of sockets.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_LOCAL_RANKS_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_LOCAL_RANKS_H_

#include <sys/socket.h>

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/distributed/socket.h"
#include "common/distributed/tcp_communicator.h"

namespace stridewise {

// Calls run(communicator) in a thread for each rank and returns what each returned, by rank. A
// rank's connections are closed when it returns.
inline std::vector<absl::Status> RunLocalRanks(
    int size, double seconds, const std::function<absl::Status(TcpCommunicator*)>& run) {
  std::vector<std::vector<Socket>> sockets(size);
  for (auto& of_rank : sockets) of_rank.resize(size);
  for (int a = 0; a < size; ++a) {
    for (int b = 0; b < a; ++b) {
      int pair[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return {absl::UnavailableError("socketpair")};
      }
      sockets[a][b] = Socket(pair[0]);
      sockets[b][a] = Socket(pair[1]);
      PrepareSocket(sockets[a][b]).IgnoreError();
      PrepareSocket(sockets[b][a]).IgnoreError();
    }
  }
  std::vector<absl::Status> results(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      TcpCommunicator communicator(rank, std::move(sockets[rank]), seconds);
      results[rank] = run(&communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_LOCAL_RANKS_H_
