// What moves data in the libnccl.so of tests: operations run on a thread each, one after the other.
// A stream is a std::atomic<int>, the number of operations that are queued on it.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/distributed/fake_nccl_state.h"
#include "common/distributed/nccl_library.h"

namespace stridewise {
namespace {

std::atomic<int> operations_left{1 << 30};  // Until all fail.

// Runs the work behind what was queued before.
NcclResult Launch(NcclComm comm, cudaStream_t stream, std::function<void()> work) {
  if (operations_left-- <= 0) {
    comm->error = kFakeRemoteError;
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
  if (!group.open) return kFakeInvalidArgument;
  group.comm = comm;
  group.stream = stream;
  group.work.push_back(std::move(work));
  return kNcclSuccess;
}

}  // namespace

extern "C" {

// The operation of this number, from 0 on, and all behind it fail with ncclRemoteError.
void FakeNcclFailFrom(int operation) { operations_left = operation; }

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
    FakeNcclShared& shared = *comm->world;
    const auto* const bytes = static_cast<const char*>(data);
    const std::lock_guard<std::mutex> lock(shared.mutex);
    shared.sent[{comm->rank, peer}].emplace_back(bytes, bytes + count);
    shared.changed.notify_all();
  });
}

NcclResult ncclRecv(void* data, size_t count, NcclType /*type*/, int peer, NcclComm comm,
                    cudaStream_t stream) {
  return AddToGroup(comm, stream, [=] {
    FakeNcclShared& shared = *comm->world;
    std::unique_lock<std::mutex> lock(shared.mutex);
    auto& arrived = shared.sent[{peer, comm->rank}];
    shared.changed.wait(lock, [&] { return comm->aborted || !arrived.empty(); });
    if (comm->aborted) return;
    if (arrived.front().size() == count) std::memcpy(data, arrived.front().data(), count);
    arrived.pop_front();
  });
}

NcclResult ncclBroadcast(const void* send, void* receive, size_t count, NcclType /*type*/, int root,
                         NcclComm comm, cudaStream_t stream) {
  const int64_t number = comm->broadcasts++;
  return Launch(comm, stream, [=] {
    FakeNcclShared& shared = *comm->world;
    std::unique_lock<std::mutex> lock(shared.mutex);
    if (comm->rank == root) {
      const auto* const bytes = static_cast<const char*>(send);
      shared.broadcasts[number] = std::vector<char>(bytes, bytes + count);
      shared.changed.notify_all();
      return;
    }
    shared.changed.wait(lock,
                        [&] { return comm->aborted || shared.broadcasts.count(number) == 1; });
    if (comm->aborted || shared.broadcasts[number].size() != count) return;
    std::memcpy(receive, shared.broadcasts[number].data(), count);
  });
}

}  // extern "C"

}  // namespace stridewise
