// Two communicators that say what communication costs: one that takes the time of another's
// operations, and one that sends nothing, for the time of all else.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_MEASURED_COMMUNICATOR_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_MEASURED_COMMUNICATOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/clock.h"
#include "common/distributed/communicator.h"

namespace stridewise {

// Passes all on to another communicator, which is borrowed.
class TimedCommunicator : public Communicator {
 public:
  explicit TimedCommunicator(Communicator* communicator) : communicator_(*communicator) {}

  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  absl::Status Exchange(int partner, const void* send, int64_t send_bytes, void* receive,
                        int64_t receive_bytes) override {
    const double begin = clock_.Now();
    const absl::Status status =
        communicator_.Exchange(partner, send, send_bytes, receive, receive_bytes);
    seconds_ += clock_.Now() - begin;
    return status;
  }
  absl::Status Broadcast(absl::Span<const int> ranks, int root, void* data,
                         int64_t bytes) override {
    const double begin = clock_.Now();
    const absl::Status status = communicator_.Broadcast(ranks, root, data, bytes);
    seconds_ += clock_.Now() - begin;
    return status;
  }
  absl::Status Sum(absl::Span<double> values) override { return communicator_.Sum(values); }
  absl::Status Barrier() override { return communicator_.Barrier(); }
  absl::Status CheckRanks() override { return communicator_.CheckRanks(); }

  // Returns the seconds of all exchanges and broadcasts so far, the waits for other ranks included.
  double seconds() const { return seconds_; }

 private:
  SteadyClock clock_;
  Communicator& communicator_;
  double seconds_ = 0;
};

// A rank among as many as there are, who sends nothing and waits for nobody. What it should receive
// is left as it is.
class SilentCommunicator : public Communicator {
 public:
  SilentCommunicator(int rank, int size) : rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  absl::Status Exchange(int /*partner*/, const void* /*send*/, int64_t /*send_bytes*/,
                        void* /*receive*/, int64_t /*receive_bytes*/) override {
    return absl::OkStatus();
  }
  absl::Status Broadcast(absl::Span<const int> /*ranks*/, int /*root*/, void* /*data*/,
                         int64_t /*bytes*/) override {
    return absl::OkStatus();
  }
  absl::Status Sum(absl::Span<double> /*values*/) override { return absl::OkStatus(); }
  absl::Status Barrier() override { return absl::OkStatus(); }
  absl::Status CheckRanks() override { return absl::OkStatus(); }

 private:
  int rank_;
  int size_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_MEASURED_COMMUNICATOR_H_
