#include "common/distributed/nccl_communicator.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// Panels take milliseconds: until then the host looks again at once, later it sleeps in between.
constexpr double kSpinSeconds = 0.002;
constexpr std::chrono::microseconds kSleep(50);
constexpr double kSecondsBetweenChecks = 0.001;  // Of the other ranks' connections.

}  // namespace

absl::StatusOr<std::unique_ptr<NcclCommunicator>> NcclCommunicator::Create(
    const NcclLibrary* nccl, Communicator* control, CommunicationQueue* queue, double seconds) {
  std::unique_ptr<NcclCommunicator> made(new NcclCommunicator(nccl, control, queue, seconds));
  std::vector<int> all(control->size());
  std::iota(all.begin(), all.end(), 0);
  RETURN_IF_ERROR(made->Connect(all).status());
  return made;
}

NcclCommunicator::~NcclCommunicator() {
  // ncclCommFinalize() waits for all ranks, and then ncclCommAbort() for it.
  if (status_.ok() && control_.CheckRanks().ok()) {
    Finalize();
  } else {
    AbortAll();
  }
}

void NcclCommunicator::Abandon() {
  if (!status_.ok()) return;
  status_ = absl::UnavailableError(absl::StrCat("rank ", rank(), " has failed"));
  AbortAll();
}

void NcclCommunicator::Finalize() {
  // All ranks finish their lists in one order, and none waits for longer than an operation takes.
  while (!comms_.empty()) {
    const auto first = comms_.begin();
    const NcclComm comm = first->second;
    const NcclResult finished = nccl_.CommFinalize(comm);
    const bool well = (finished == kNcclSuccess || finished == kNcclInProgress) &&
                      Wait("ncclCommFinalize", comm, /*for_queue=*/false).ok();
    if (comms_.empty()) return;  // Fail() has ended all.
    (well ? nccl_.CommDestroy : nccl_.CommAbort)(comm);
    comms_.erase(first);
  }
}

void NcclCommunicator::AbortAll() {
  std::vector<NcclComm> comms;
  for (const auto& [ranks, comm] : comms_) comms.push_back(comm);
  comms_.clear();
  if (comms.empty()) return;
  // The first thing that it does ends the kernels. What it then waits for may be a rank that
  // answers no more: nobody waits for that here for longer than an operation takes.
  const auto done = std::make_shared<std::promise<void>>();
  std::thread([nccl = nccl_, comms = std::move(comms), done] {
    for (const NcclComm comm : comms) nccl.CommAbort(comm);
    done->set_value();
  }).detach();
  done->get_future().wait_for(std::chrono::duration<double>(seconds_));
}

absl::Status NcclCommunicator::Fail(const absl::Status& reason) {
  if (!status_.ok()) return status_;
  status_ = reason;
  AbortAll();
  // Those who wait for the same rank are here, too, or will be.
  const absl::Status others = control_.Barrier();
  if (!others.ok()) status_ = others;
  return status_;
}

absl::Status NcclCommunicator::Wait(const char* name, NcclComm comm, bool for_queue) {
  const SteadyClock clock;
  const double begin = clock.Now();
  double checked = begin;
  bool is_recorded = !for_queue;
  while (true) {
    NcclResult state = kNcclSuccess;
    const NcclResult asked = nccl_.CommGetAsyncError(comm, &state);
    const NcclResult error = asked != kNcclSuccess ? asked : state;
    if (error != kNcclSuccess && error != kNcclInProgress) {
      return Fail(absl::UnavailableError(
          absl::StrCat("rank ", rank(), ": ", name, ": ", nccl_.GetErrorString(error))));
    }
    if (error == kNcclSuccess) {
      if (!is_recorded) {
        const absl::Status recorded = queue_.Record();
        if (!recorded.ok()) return Fail(recorded);
        is_recorded = true;
      }
      const absl::StatusOr<bool> done = for_queue ? queue_.IsDone() : true;
      if (!done.ok()) return Fail(done.status());
      if (*done) return absl::OkStatus();
    }
    const double now = clock.Now();
    if (now - begin > seconds_) {
      return Fail(absl::UnavailableError(absl::StrCat(
          "rank ", rank(), ": ", name, " was not done in time, though all ranks are there")));
    }
    if (now - checked > kSecondsBetweenChecks) {
      const absl::Status ranks = control_.CheckRanks();
      if (!ranks.ok()) return Fail(ranks);
      checked = now;
    }
    if (now - begin > kSpinSeconds) std::this_thread::sleep_for(kSleep);
  }
}

absl::Status NcclCommunicator::Run(const char* name, NcclComm comm, const Queue& queue) {
  const NcclResult queued = queue();
  if (queued != kNcclSuccess && queued != kNcclInProgress) {
    return Fail(absl::UnavailableError(
        absl::StrCat("rank ", rank(), ": ", name, ": ", nccl_.GetErrorString(queued))));
  }
  return Wait(name, comm, /*for_queue=*/true);
}

absl::StatusOr<NcclComm> NcclCommunicator::Connect(absl::Span<const int> ranks) {
  const std::vector<int> key(ranks.begin(), ranks.end());
  const auto found = comms_.find(key);
  if (found != comms_.end()) return found->second;
  const auto mine = std::find(key.begin(), key.end(), rank());
  // The first rank of the list says where all of them meet.
  NcclUniqueId id = {};
  NcclResult result = mine == key.begin() ? nccl_.GetUniqueId(&id) : kNcclSuccess;
  NcclComm comm = nullptr;
  if (result == kNcclSuccess) {
    const absl::Status said = control_.Broadcast(key, key[0], &id, sizeof(id));
    if (!said.ok()) return Fail(said);
    NcclConfig config;
    result = nccl_.CommInitRankConfig(&comm, static_cast<int>(key.size()), id,
                                      static_cast<int>(mine - key.begin()), &config);
  }
  if (result != kNcclSuccess && result != kNcclInProgress) {
    return Fail(absl::UnavailableError(
        absl::StrCat("rank ", rank(), ": ncclCommInitRankConfig: ", nccl_.GetErrorString(result))));
  }
  comms_[key] = comm;
  RETURN_IF_ERROR(Wait("ncclCommInitRankConfig", comm, /*for_queue=*/false));
  return comm;
}

absl::Status NcclCommunicator::Exchange(int partner, const void* send, int64_t send_bytes,
                                        void* receive, int64_t receive_bytes) {
  RETURN_IF_ERROR(status_);
  if (partner < 0 || partner >= size() || send_bytes < 0 || receive_bytes < 0 ||
      (partner == rank() && send_bytes != receive_bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("Exchange: partner ", partner, ", ", send_bytes,
                                                   " bytes and ", receive_bytes,
                                                   " bytes are not allowed among ", size()));
  }
  if (send_bytes == 0 && receive_bytes == 0) return absl::OkStatus();
  std::vector<int> all(size());
  std::iota(all.begin(), all.end(), 0);
  ASSIGN_OR_RETURN(const NcclComm comm, Connect(all));
  if (partner == rank()) {
    RETURN_IF_ERROR(queue_.Copy(receive, send, send_bytes));
    return Wait("copy", comm, /*for_queue=*/true);
  }
  return Run("ncclSend, ncclRecv", comm, [&] {
    NcclResult result = nccl_.GroupStart();
    if (result == kNcclSuccess && send_bytes > 0) {
      result = nccl_.Send(send, static_cast<size_t>(send_bytes), kNcclChar, partner, comm,
                          queue_.stream());
    }
    if ((result == kNcclSuccess || result == kNcclInProgress) && receive_bytes > 0) {
      result = nccl_.Recv(receive, static_cast<size_t>(receive_bytes), kNcclChar, partner, comm,
                          queue_.stream());
    }
    const NcclResult ended = nccl_.GroupEnd();
    return result == kNcclSuccess || result == kNcclInProgress ? ended : result;
  });
}

absl::Status NcclCommunicator::Broadcast(absl::Span<const int> ranks, int root, void* data,
                                         int64_t bytes) {
  RETURN_IF_ERROR(status_);
  const auto position = std::find(ranks.begin(), ranks.end(), root);
  if (position == ranks.end() || bytes < 0 ||
      std::find(ranks.begin(), ranks.end(), rank()) == ranks.end()) {
    return absl::InvalidArgumentError(absl::StrCat("Broadcast: root ", root, ", rank ", rank(),
                                                   " and ", bytes, " bytes are not allowed"));
  }
  if (ranks.size() == 1) return absl::OkStatus();
  ASSIGN_OR_RETURN(const NcclComm comm, Connect(ranks));
  if (bytes == 0) return absl::OkStatus();
  return Run("ncclBroadcast", comm, [&] {
    return nccl_.Broadcast(data, data, static_cast<size_t>(bytes), kNcclChar,
                           static_cast<int>(position - ranks.begin()), comm, queue_.stream());
  });
}

absl::Status NcclCommunicator::Sum(absl::Span<double> values) {
  RETURN_IF_ERROR(status_);
  return control_.Sum(values);
}

absl::Status NcclCommunicator::Barrier() {
  RETURN_IF_ERROR(status_);
  return control_.Barrier();
}

absl::Status NcclCommunicator::CheckRanks() {
  RETURN_IF_ERROR(status_);
  return control_.CheckRanks();
}

}  // namespace stridewise
