// The devices that the ranks of a grid compute on, one a rank: GPUs of this machine, or in tests
// devices on the host.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_DEVICES_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_DEVICES_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/distributed/communication_queue.h"
#include "common/distributed/peer_memory.h"
#include "common/gpu/nvml.h"
#include "common/streaming/stream_queues.h"
#include "matmul/distributed/device_summa.h"
#include "transpose/distributed/device_exchange.h"

namespace stridewise {

// One rank's. Used by the thread that opened it.
struct GridDevice {
  std::unique_ptr<CommunicationQueue> communication;
  // Opens queues whose kernels run on that number of multiprocessors, 0 for all
  // (cuda_stream_queues.h).
  std::function<absl::StatusOr<std::unique_ptr<StreamQueues>>(int multiprocessors)> open_queues;
  QueuedProduct multiply;
  QueuedPermute permute;
  std::unique_ptr<PeerMemory> peers;  // That of the other ranks' devices.
  std::unique_ptr<Nvml> nvml;         // Null where there is nothing to read.
};

struct GridDevices {
  // Returns Unavailable, saying why, unless the devices first to first + count - 1 are there.
  std::function<absl::Status(int first, int count)> check;
  // Makes the device the calling thread's.
  std::function<absl::StatusOr<GridDevice>(int number)> open;
};

// With MatMul() and Permute(). Products have a workspace of their own for each device.
GridDevices GpusOfThisMachine();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_DEVICES_H_
