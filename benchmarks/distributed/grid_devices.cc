#include "benchmarks/distributed/grid_devices.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/distributed/gpu_peer_memory.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "common/streaming/cuda_stream_queues.h"
#include "matmul/matmul.h"
#include "transpose/permute.h"

namespace stridewise {
namespace {

absl::Status Check(int first, int count) {
  ASSIGN_OR_RETURN(const int there, gpu::DeviceCount());
  if (first + count <= there) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(count, " GPUs from number ", first,
                                             " on are asked for; this machine has ", there));
}

// MatMul() with the workspace that it asks for. A larger one is allocated beside those before it,
// which products that are queued may still use.
QueuedProduct MultiplyWithWorkspace() {
  auto workspaces = std::make_shared<std::vector<DeviceBuffer>>();
  return [workspaces](const MatMulProblem& problem, cudaStream_t stream) -> absl::Status {
    const int64_t bytes = MatMulWorkspaceBytes(problem);
    if (workspaces->empty() || static_cast<int64_t>(workspaces->back().bytes()) < bytes) {
      ASSIGN_OR_RETURN(DeviceBuffer larger, DeviceBuffer::Allocate(bytes));
      workspaces->push_back(std::move(larger));
    }
    MatMulProblem with_workspace = problem;
    with_workspace.workspace = workspaces->back().data();
    with_workspace.workspace_bytes = static_cast<int64_t>(workspaces->back().bytes());
    return MatMul(with_workspace, stream);
  };
}

absl::StatusOr<GridDevice> Open(int number) {
  ASSIGN_OR_RETURN(const DeviceInfo info, OpenDevice(number));
  GridDevice device;
  ASSIGN_OR_RETURN(device.communication, OpenCommunicationQueue());
  device.open_queues = [number](int multiprocessors) {
    return OpenCudaStreamQueues(number, multiprocessors);
  };
  device.multiply = MultiplyWithWorkspace();
  device.permute = Permute;
  device.peers = MakeGpuPeerMemory();
  device.nvml = Nvml::Open(info.pci_bus_id);
  return device;
}

}  // namespace

GridDevices GpusOfThisMachine() { return {Check, Open}; }

}  // namespace stridewise
