// The stream that a device's communication runs on, beside its arithmetic.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_COMMUNICATION_QUEUE_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_COMMUNICATION_QUEUE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

class CommunicationQueue {
 public:
  virtual ~CommunicationQueue() = default;

  virtual cudaStream_t stream() const = 0;

  // Queues a copy from the device's memory to the device's memory.
  virtual absl::Status Copy(void* to, const void* from, int64_t bytes) = 0;

  // Remembers what is queued, and returns whether all that was remembered last is done, or the
  // first error of it.
  virtual absl::Status Record() = 0;
  virtual absl::StatusOr<bool> IsDone() = 0;
};

// Makes one on the calling thread's device. Unavailable where there is none.
absl::StatusOr<std::unique_ptr<CommunicationQueue>> OpenCommunicationQueue();

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_COMMUNICATION_QUEUE_H_
