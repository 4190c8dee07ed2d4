// Queues that leave out either copies or all other work of a call, to say what the rest of it takes
// alone. Its results are wrong: what is left out has not happened.

#ifndef STRIDEWISE_COMMON_STREAMING_PARTIAL_QUEUES_H_
#define STRIDEWISE_COMMON_STREAMING_PARTIAL_QUEUES_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/streaming/stream_queues.h"

namespace stridewise {

// Passes all else on to other queues, which are borrowed. Events are recorded and waited for as in
// the whole call.
class PartialQueues : public StreamQueues {
 public:
  enum class Part { kCopies, kWork };

  PartialQueues(StreamQueues* queues, Part part) : queues_(*queues), part_(part) {}

  absl::Status Enter() override { return queues_.Enter(); }
  absl::StatusOr<void*> Allocate(int64_t bytes) override { return queues_.Allocate(bytes); }
  absl::Status Copy(StreamQueue queue, const BlockCopy& copy) override {
    return part_ == Part::kCopies ? queues_.Copy(queue, copy) : absl::OkStatus();
  }
  absl::Status RunOn(StreamQueue queue, std::function<absl::Status(cudaStream_t)> work) override {
    return part_ == Part::kWork ? queues_.RunOn(queue, std::move(work)) : absl::OkStatus();
  }
  absl::Status Record(StreamQueue queue, int event) override {
    return queues_.Record(queue, event);
  }
  absl::Status Wait(StreamQueue queue, int event) override { return queues_.Wait(queue, event); }
  absl::Status WaitOnHost(int event) override { return queues_.WaitOnHost(event); }
  absl::StatusOr<bool> IsDone(int event) override { return queues_.IsDone(event); }
  absl::Status Finish() override { return queues_.Finish(); }

 private:
  StreamQueues& queues_;
  const Part part_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_PARTIAL_QUEUES_H_
