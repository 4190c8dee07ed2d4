#include "common/distributed/gpu_peer_memory.h"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/cuda_status.h"

namespace stridewise {
namespace {

// Of one process and of no other. Numbers of processes do not tell: each container counts its own,
// and so does each machine.
using ProcessId = std::array<uint64_t, 2>;

const ProcessId& ThisProcess() {
  static const ProcessId id = [] {
    std::random_device random;
    std::uniform_int_distribution<uint64_t> any;
    return ProcessId{any(random), any(random)};
  }();
  return id;
}

// What a Name holds.
struct Content {
  ProcessId process{};
  void* memory = nullptr;  // In that process; null where there is none.
  int device = 0;          // By the number of that process.
  bool has_handle = false;
  cudaIpcMemHandle_t handle = {};
};
static_assert(sizeof(Content) <= sizeof(PeerMemory::Name));

// Lets the calling thread's device reach all memory of another of this process.
absl::Status ReachDevice(int other) {
  int device = 0;
  RETURN_IF_CUDA_ERROR(cudaGetDevice(&device));
  if (device == other) return absl::OkStatus();
  int can = 0;
  RETURN_IF_CUDA_ERROR(cudaDeviceCanAccessPeer(&can, device, other));
  if (can == 0) {
    return absl::UnavailableError(
        absl::StrCat("GPU ", device, " does not reach the memory of GPU ", other));
  }
  const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();
    return absl::OkStatus();
  }
  return CUDA_STATUS(error);
}

class GpuPeerMemory : public PeerMemory {
 public:
  GpuPeerMemory() = default;
  GpuPeerMemory(const GpuPeerMemory&) = delete;
  GpuPeerMemory& operator=(const GpuPeerMemory&) = delete;
  ~GpuPeerMemory() override { Leave().IgnoreError(); }

  absl::StatusOr<Name> Export(void* memory) override {
    Content content;
    content.process = ThisProcess();
    content.memory = memory;
    RETURN_IF_CUDA_ERROR(cudaGetDevice(&content.device));
    if (memory != nullptr) {
      content.has_handle = cudaIpcGetMemHandle(&content.handle, memory) == cudaSuccess;
      if (!content.has_handle) (void)cudaGetLastError();  // Threads do without.
    }
    Name name;
    std::memcpy(name.bytes, &content, sizeof(content));
    return name;
  }

  absl::StatusOr<void*> Import(const Name& name) override {
    Content content;
    std::memcpy(&content, name.bytes, sizeof(content));
    if (content.memory == nullptr) return nullptr;
    if (content.process == ThisProcess()) {
      RETURN_IF_ERROR(ReachDevice(content.device));
      return content.memory;
    }
    if (!content.has_handle) {
      return absl::UnavailableError("CUDA gives no handle of the memory for other processes");
    }
    void* memory = nullptr;
    RETURN_IF_CUDA_ERROR(
        cudaIpcOpenMemHandle(&memory, content.handle, cudaIpcMemLazyEnablePeerAccess));
    opened_.push_back(memory);
    return memory;
  }

  absl::Status Leave() override {
    absl::Status status;
    for (void* const memory : std::exchange(opened_, {})) {
      status.Update(CUDA_STATUS(cudaIpcCloseMemHandle(memory)));
    }
    return status;
  }

 private:
  std::vector<void*> opened_;
};

}  // namespace

std::unique_ptr<PeerMemory> MakeGpuPeerMemory() { return std::make_unique<GpuPeerMemory>(); }

}  // namespace stridewise
