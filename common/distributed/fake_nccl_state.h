// A communicator of the libnccl.so of tests.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_FAKE_NCCL_STATE_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_FAKE_NCCL_STATE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/distributed/nccl_library.h"

namespace stridewise {

inline constexpr auto kFakeInvalidArgument = static_cast<NcclResult>(4);
inline constexpr auto kFakeRemoteError = static_cast<NcclResult>(6);

// What the ranks of a communicator share.
struct FakeNcclShared {
  std::mutex mutex;
  std::condition_variable changed;
  int joined = 0;
  int finalized = 0;
  std::map<int64_t, std::vector<char>> broadcasts;  // By their number.
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> sent;
};

struct NcclCommState {
  std::shared_ptr<FakeNcclShared> world;
  int size = 0;
  int rank = 0;
  int64_t broadcasts = 0;
  std::atomic<bool> aborted{false};
  std::atomic<bool> in_progress{true};  // Until somebody has asked once.
  std::atomic<bool> finalizing{false};  // Until all ranks are.
  std::atomic<int> error{0};
  std::thread last;  // Behind all before it.
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_FAKE_NCCL_STATE_H_
