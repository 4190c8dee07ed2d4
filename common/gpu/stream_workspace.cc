#include "common/gpu/stream_workspace.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {
namespace {

// Returns the size of a block for a call that needs `bytes` where there were `before`: at least
// half as much again, so that calls that need ever more allocate only a few times, and whole pages
// of the device.
int64_t GrownBytes(int64_t bytes, int64_t before) {
  constexpr int64_t kPage = int64_t{2} << 20;
  const int64_t least = std::max(bytes, before + before / 2);
  return (least + kPage - 1) / kPage * kPage;
}

}  // namespace

const WorkspaceMemory& DeviceWorkspaceMemory() {
  static constexpr WorkspaceMemory kMemory = {gpu::CaptureOf, gpu::AllocateOnStream,
                                              gpu::FreeOnStream, gpu::AllocateAnytime,
                                              gpu::FreeAnytime};
  return kMemory;
}

StreamWorkspace::StreamWorkspace(cudaStream_t stream, const WorkspaceMemory& memory)
    : stream_(stream), memory_(memory) {}

StreamWorkspace::~StreamWorkspace() {
  if (shared_.data != nullptr) (void)memory_.free_on_stream(shared_.data, stream_);
  for (const Block& block : captured_) (void)memory_.free_anytime(block.data);
}

absl::Status StreamWorkspace::Use(int64_t bytes,
                                  absl::FunctionRef<absl::Status(void* workspace)> queue) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(void* const workspace, Find(bytes));
  return queue(workspace);
}

absl::Status StreamWorkspace::Reserve(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Find(bytes).status();
}

int64_t StreamWorkspace::allocated_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int64_t bytes = shared_.bytes;
  for (const Block& block : captured_) bytes += block.bytes;
  return bytes;
}

absl::StatusOr<void*> StreamWorkspace::Find(int64_t bytes) {
  ASSIGN_OR_RETURN(const uint64_t capture, memory_.capture_of(stream_));
  if (capture != 0) return FindCaptured(capture, bytes);
  return bytes <= shared_.bytes ? shared_.data : GrowShared(bytes);
}

absl::StatusOr<void*> StreamWorkspace::GrowShared(int64_t bytes) {
  const int64_t grown = GrownBytes(bytes, shared_.bytes);
  // Before it allocates, so that a device that holds one of the two is enough.
  if (shared_.data != nullptr) RETURN_IF_ERROR(memory_.free_on_stream(shared_.data, stream_));
  shared_ = Block();
  ASSIGN_OR_RETURN(void* const data,
                   memory_.allocate_on_stream(static_cast<size_t>(grown), stream_));
  shared_ = {0, data, grown};
  return data;
}

absl::StatusOr<void*> StreamWorkspace::FindCaptured(uint64_t capture, int64_t bytes) {
  int64_t before = 0;
  for (const Block& block : captured_) {
    if (block.capture != capture) continue;
    if (bytes <= block.bytes) return block.data;
    before = block.bytes;
  }
  const int64_t grown = GrownBytes(bytes, before);
  ASSIGN_OR_RETURN(void* const data, memory_.allocate_anytime(static_cast<size_t>(grown)));
  captured_.push_back({capture, data, grown});
  return data;
}

}  // namespace stridewise
