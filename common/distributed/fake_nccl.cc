// A libnccl.so of tests, whose devices are the host and whose ranks are threads: the same functions
// and none of the speed. Calls are never done at once, as those of a communicator that does not
// block. Here communicators begin and end; fake_nccl_operations.cc moves their data.

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "common/distributed/fake_nccl_state.h"
#include "common/distributed/fake_nccl_world.h"
#include "common/distributed/nccl_library.h"

namespace stridewise {
namespace {

std::mutex worlds_mutex;
std::map<std::string, std::shared_ptr<FakeNcclShared>>& Worlds() {
  static auto& worlds = *new std::map<std::string, std::shared_ptr<FakeNcclShared>>;
  return worlds;
}
std::mutex alive_mutex;
std::set<NcclComm>& Alive() {
  static auto& alive = *new std::set<NcclComm>;
  return alive;
}
std::atomic<int> next_id{0};
std::atomic<int> abort_milliseconds = 0;

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
    return kFakeInvalidArgument;
  }
  auto* const made = new NcclCommState;
  {
    const std::lock_guard<std::mutex> lock(alive_mutex);
    Alive().insert(made);
  }
  {
    const std::lock_guard<std::mutex> lock(worlds_mutex);
    std::shared_ptr<FakeNcclShared>& world = Worlds()[id.bytes];
    if (world == nullptr) world = std::make_shared<FakeNcclShared>();
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

const char* ncclGetErrorString(NcclResult result) {
  return result == kFakeRemoteError ? "remote error" : "error";
}

}  // extern "C"

}  // namespace stridewise
