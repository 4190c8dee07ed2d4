// A libnccl.so of tests, whose devices are the host and whose ranks are threads: the same functions
// and none of the speed. Calls are never done at once, as those of a communicator that does not
// block; operations run on a thread each, one after the other. A stream is a std::atomic<int>, the
// number of operations that are queued on it.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/distributed/fake_nccl_world.h"
#include "common/distributed/nccl_library.h"

namespace stridewise {
namespace {

constexpr auto kInvalidArgument = static_cast<NcclResult>(4);
constexpr auto kRemoteError = static_cast<NcclResult>(6);

// What the ranks of a communicator share.
struct World {
  std::mutex mutex;
  std::condition_variable changed;
  int joined = 0;
  int finalized = 0;
  std::map<int64_t, std::vector<char>> broadcasts;  // By their number.
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> sent;
};

std::mutex worlds_mutex;
std::map<std::string, std::shared_ptr<World>>& Worlds() {
  static auto& worlds = *new std::map<std::string, std::shared_ptr<World>>;
  return worlds;
}
std::mutex alive_mutex;
std::set<NcclComm>& Alive() {
  static auto& alive = *new std::set<NcclComm>;
  return alive;
}
std::atomic<int> next_id{0};
std::atomic<int> operations_left{1 << 30};  // Until all fail.
std::atomic<int> abort_milliseconds = 0;

}  // namespace

struct NcclCommState {
  std::shared_ptr<World> world;
  int size = 0;
  int rank = 0;
  int64_t broadcasts = 0;
  std::atomic<bool> aborted{false};
  std::atomic<bool> in_progress{true};  // Until somebody has asked once.
  std::atomic<bool> finalizing{false};  // Until all ranks are.
  std::atomic<int> error{0};
  std::thread last;  // Behind all before it.
};

namespace {

// Runs the work behind what was queued before.
NcclResult Launch(NcclComm comm, cudaStream_t stream, std::function<void()> work) {
  if (operations_left-- <= 0) {
    comm->error = kRemoteError;
    return kNcclInProgress;
  }
  auto* const queued = reinterpret_cast<std::atomic<int>*>(stream);
  ++*queued;
  comm->in_progress = true;
  comm->last = std::thread([comm, queued, work = std::move(work),
                            before = std::make_shared<std::thread>(std::move(comm->last))] {
    if (before->joinable()) before->join();
    work();
    if (!comm->aborted) --*queued;
  });
  return kNcclInProgress;
}

// Of a group that has begun on this thread.
struct Group {
  bool open = false;
  NcclComm comm = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<std::function<void()>> work;
};
thread_local Group group;

NcclResult AddToGroup(NcclComm comm, cudaStream_t stream, std::function<void()> work) {
  if (!group.open) return kInvalidArgument;
  group.comm = comm;
  group.stream = stream;
  group.work.push_back(std::move(work));
  return kNcclSuccess;
}

void End(NcclComm comm) {
  {
    const std::lock_guard<std::mutex> lock(alive_mutex);
    Alive().erase(comm);
  }
  if (comm->last.joinable()) comm->last.join();
  delete comm;
}

}  // namespace

FakeNcclRank RankOfFakeNccl(NcclComm comm) { return {comm->rank, comm->size, comm->world.get()}; }

bool IsFakeNcclAlive(NcclComm comm) {
  const std::lock_guard<std::mutex> lock(alive_mutex);
  return Alive().count(comm) == 1;
}

extern "C" {

// The operation of this number, from 0 on, and all behind it fail with ncclRemoteError.
void FakeNcclFailFrom(int operation) { operations_left = operation; }

// ncclCommAbort() ends what runs, and returns after this time.
void FakeNcclAbortTakes(int milliseconds) { abort_milliseconds = milliseconds; }

NcclResult ncclGetVersion(int* version) {
  *version = 22809;
  return kNcclSuccess;
}

NcclResult ncclGetUniqueId(NcclUniqueId* id) {
  const std::string text = std::to_string(next_id++);
  std::memset(id, 0, sizeof(*id));
  std::memcpy(id->bytes, text.data(), text.size());
  return kNcclSuccess;
}

NcclResult ncclCommInitRankConfig(NcclComm* comm, int size, NcclUniqueId id, int rank,
                                  NcclConfig* config) {
  if (config->magic != 0xcafebeef || rank < 0 || rank >= size) {
    return kInvalidArgument;
  }
  auto* const made = new NcclCommState;
  {
    const std::lock_guard<std::mutex> lock(alive_mutex);
    Alive().insert(made);
  }
  {
    const std::lock_guard<std::mutex> lock(worlds_mutex);
    std::shared_ptr<World>& world = Worlds()[id.bytes];
    if (world == nullptr) world = std::make_shared<World>();
    made->world = world;
  }
  made->size = size;
  made->rank = rank;
  std::unique_lock<std::mutex> lock(made->world->mutex);
  ++made->world->joined;
  made->world->changed.notify_all();
  *comm = made;
  if (config->blocking == 0) return kNcclInProgress;
  made->in_progress = false;
  made->world->changed.wait(lock, [&] { return made->world->joined == size; });
  return kNcclSuccess;
}

NcclResult ncclCommGetAsyncError(NcclComm comm, NcclResult* error) {
  const std::lock_guard<std::mutex> lock(comm->world->mutex);
  const bool all = (comm->finalizing ? comm->world->finalized : comm->world->joined) >= comm->size;
  *error = static_cast<NcclResult>(comm->error.load());
  if (*error == kNcclSuccess && (comm->in_progress.exchange(false) || !all)) {
    *error = kNcclInProgress;
  }
  return kNcclSuccess;
}

// Waits for all ranks, as NCCL's.
NcclResult ncclCommFinalize(NcclComm comm) {
  const std::lock_guard<std::mutex> lock(comm->world->mutex);
  ++comm->world->finalized;
  comm->finalizing = true;
  return kNcclInProgress;
}

NcclResult ncclCommDestroy(NcclComm comm) {
  End(comm);
  return kNcclSuccess;
}

NcclResult ncclCommAbort(NcclComm comm) {
  {
    const std::lock_guard<std::mutex> lock(comm->world->mutex);
    comm->aborted = true;
  }
  comm->world->changed.notify_all();
  std::this_thread::sleep_for(std::chrono::milliseconds(abort_milliseconds));
  End(comm);
  return kNcclSuccess;
}

NcclResult ncclGroupStart() {
  group.open = true;
  return kNcclSuccess;
}

NcclResult ncclGroupEnd() {
  Group ended = std::exchange(group, {});
  if (ended.work.empty()) return kNcclSuccess;
  return Launch(ended.comm, ended.stream, [work = std::move(ended.work)] {
    for (const auto& one : work) one();
  });
}

NcclResult ncclSend(const void* data, size_t count, NcclType /*type*/, int peer, NcclComm comm,
                    cudaStream_t stream) {
  return AddToGroup(comm, stream, [=] {
    World& world = *comm->world;
    const auto* const bytes = static_cast<const char*>(data);
    const std::lock_guard<std::mutex> lock(world.mutex);
    world.sent[{comm->rank, peer}].emplace_back(bytes, bytes + count);
    world.changed.notify_all();
  });
}

NcclResult ncclRecv(void* data, size_t count, NcclType /*type*/, int peer, NcclComm comm,
                    cudaStream_t stream) {
  return AddToGroup(comm, stream, [=] {
    World& world = *comm->world;
    std::unique_lock<std::mutex> lock(world.mutex);
    auto& arrived = world.sent[{peer, comm->rank}];
    world.changed.wait(lock, [&] { return comm->aborted || !arrived.empty(); });
    if (comm->aborted) return;
    if (arrived.front().size() == count) std::memcpy(data, arrived.front().data(), count);
    arrived.pop_front();
  });
}

NcclResult ncclBroadcast(const void* send, void* receive, size_t count, NcclType /*type*/, int root,
                         NcclComm comm, cudaStream_t stream) {
  const int64_t number = comm->broadcasts++;
  return Launch(comm, stream, [=] {
    World& world = *comm->world;
    std::unique_lock<std::mutex> lock(world.mutex);
    if (comm->rank == root) {
      const auto* const bytes = static_cast<const char*>(send);
      world.broadcasts[number] = std::vector<char>(bytes, bytes + count);
      world.changed.notify_all();
      return;
    }
    world.changed.wait(lock, [&] { return comm->aborted || world.broadcasts.count(number) == 1; });
    if (comm->aborted || world.broadcasts[number].size() != count) return;
    std::memcpy(receive, world.broadcasts[number].data(), count);
  });
}

const char* ncclGetErrorString(NcclResult result) {
  return result == kRemoteError ? "remote error" : "error";
}

}  // extern "C"

}  // namespace stridewise
