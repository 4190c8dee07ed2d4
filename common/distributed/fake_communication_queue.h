// The stream that tests hand to fake_nccl.cc, on the host.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_FAKE_COMMUNICATION_QUEUE_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_FAKE_COMMUNICATION_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/distributed/communication_queue.h"

namespace stridewise {

class FakeCommunicationQueue : public CommunicationQueue {
 public:
  cudaStream_t stream() const override { return reinterpret_cast<cudaStream_t>(&queued_); }
  absl::Status Copy(void* to, const void* from, int64_t bytes) override {
    std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status Record() override { return absl::OkStatus(); }
  absl::StatusOr<bool> IsDone() override { return queued_ == 0; }

 private:
  mutable std::atomic<int> queued_{0};
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_FAKE_COMMUNICATION_QUEUE_H_
