// One device as streamed operations see it: memory, and three queues of work that run at the same
// time, for copies from the host, for kernels and for copies to the host. cuda_stream_queues.h is a
// GPU; tests have one on the host.
//
// Each queue works in order. Queues know nothing of each other but the events that one records and
// another waits for, with the semantics of CUDA: a wait is for the last record before it, and for
// nothing where there is none. Buffers belong to the caller and must last until the work is done.
// Calls are made by one thread, after Enter().

#ifndef STRIDEWISE_COMMON_STREAMING_STREAM_QUEUES_H_
#define STRIDEWISE_COMMON_STREAMING_STREAM_QUEUES_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

enum class StreamQueue { kIn, kCompute, kOut };
inline constexpr int kStreamQueues = 3;

// A block of rows that are copied between matrices of different pitches, in bytes.
struct BlockCopy {
  void* to = nullptr;
  int64_t to_pitch = 0;
  const void* from = nullptr;
  int64_t from_pitch = 0;
  int64_t row_bytes = 0;
  int64_t rows = 0;
};

class StreamQueues {
 public:
  static constexpr int kEvents = 8;  // Events are named 0 to kEvents - 1.

  // Waits for all work and frees the memory.
  virtual ~StreamQueues() = default;

  // Makes the device the calling thread's.
  virtual absl::Status Enter() = 0;

  // Returns device memory, aligned to 256 bytes, that lasts as long as this object.
  // ResourceExhausted, with the number of bytes, where it does not fit.
  virtual absl::StatusOr<void*> Allocate(int64_t bytes) = 0;

  // Queues a copy from the host or on the device on kIn, or to the host or another device on kOut.
  virtual absl::Status Copy(StreamQueue queue, const BlockCopy& copy) = 0;

  // Queues what `work` queues on the stream that it is handed.
  virtual absl::Status RunOn(StreamQueue queue, std::function<absl::Status(cudaStream_t)> work) = 0;

  // The same on kCompute.
  absl::Status Run(std::function<absl::Status(cudaStream_t)> work) {
    return RunOn(StreamQueue::kCompute, std::move(work));
  }

  virtual absl::Status Record(StreamQueue queue, int event) = 0;
  virtual absl::Status Wait(StreamQueue queue, int event) = 0;

  // Waits on the host for the last record, and returns the first error of the work.
  virtual absl::Status WaitOnHost(int event) = 0;

  // Returns whether WaitOnHost() would return at once.
  virtual absl::StatusOr<bool> IsDone(int event) = 0;

  // Waits for all work and returns its first error.
  virtual absl::Status Finish() = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_STREAM_QUEUES_H_
