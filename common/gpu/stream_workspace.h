// Device memory that the calls queued on one stream use as workspace, one after the other.
//
// Calls are queued under a lock: what one call uses, the next may only use behind it on the stream.
// Memory grows when a call needs more, and is not given back before the owner ends:
//
// - Calls that are not captured share one block. It grows in the order of the stream
//   (cudaMallocAsync() and cudaFreeAsync()), so that nobody waits, and work that was queued before
//   keeps what it was given.
// - A graph keeps the addresses that were captured, and may be launched at any time, on any stream.
//   So the calls of each capture have a block of their own, which nothing else uses and which is
//   kept to the end; where it has to grow, the smaller one is kept too.

#ifndef STRIDEWISE_COMMON_GPU_STREAM_WORKSPACE_H_
#define STRIDEWISE_COMMON_GPU_STREAM_WORKSPACE_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

// Where the memory is from. The functions are those of the same names in gpu_runtime.h, or a
// test's.
struct WorkspaceMemory {
  absl::StatusOr<uint64_t> (*capture_of)(cudaStream_t stream);
  absl::StatusOr<void*> (*allocate_on_stream)(size_t bytes, cudaStream_t stream);
  absl::Status (*free_on_stream)(void* device, cudaStream_t stream);
  absl::StatusOr<void*> (*allocate_anytime)(size_t bytes);
  absl::Status (*free_anytime)(void* device);
};

// Returns the memory of the calling thread's device.
const WorkspaceMemory& DeviceWorkspaceMemory();

class StreamWorkspace {
 public:
  // Allocates nothing. `stream` is borrowed, and `memory` too.
  explicit StreamWorkspace(cudaStream_t stream,
                           const WorkspaceMemory& memory = DeviceWorkspaceMemory());
  StreamWorkspace(const StreamWorkspace&) = delete;
  StreamWorkspace& operator=(const StreamWorkspace&) = delete;

  // Gives the shared block back in the order of the stream, and waits for the device if there are
  // blocks of captures. REQUIRES: the stream exists and is not being captured, and graphs that
  // were captured are not launched any more.
  ~StreamWorkspace();

  // Calls queue(workspace), which queues work on the stream that uses `bytes` bytes at `workspace`,
  // a multiple of 256, and returns what it returned. May be called from several threads at once.
  // Returns ResourceExhausted, without calling it, where there is no memory.
  absl::Status Use(int64_t bytes, absl::FunctionRef<absl::Status(void* workspace)> queue);

  // Allocates the block of calls that are not captured, or of the capture that the stream takes
  // part in, so that no call up to this number of bytes has to.
  absl::Status Reserve(int64_t bytes);

  // Returns the bytes of all blocks.
  int64_t allocated_bytes() const;

 private:
  struct Block {
    uint64_t capture = 0;  // 0: of the calls that are not captured.
    void* data = nullptr;
    int64_t bytes = 0;
  };

  // Returns the block of the calls that are made now. REQUIRES: mutex_ is held.
  absl::StatusOr<void*> Find(int64_t bytes);
  absl::StatusOr<void*> GrowShared(int64_t bytes);
  absl::StatusOr<void*> FindCaptured(uint64_t capture, int64_t bytes);

  const cudaStream_t stream_;
  const WorkspaceMemory& memory_;
  mutable std::mutex mutex_;
  Block shared_;
  std::vector<Block> captured_;  // By age; the last of a capture is its largest.
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_STREAM_WORKSPACE_H_
