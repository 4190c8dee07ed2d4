// Devices of the host for tests of rows of --gpus: queues in host memory, and what goes wrong.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_FAKE_GRID_DEVICES_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_FAKE_GRID_DEVICES_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/distributed/grid_devices.h"
#include "common/base/status_macros.h"
#include "common/distributed/fake_communication_queue.h"
#include "common/distributed/fake_peer_memory.h"
#include "common/gpu/nvml.h"
#include "common/streaming/fake_stream_queues.h"
#include "matmul/distributed/wide_product.h"
#include "matmul/matmul.h"
#include "transpose/distributed/permute_elements.h"

namespace stridewise {

// What a rank's device does wrong.
struct Fault {
  int device = -1;
  enum { kNone, kWrongProduct, kNoMemory, kFails, kReachesNothing } kind = kNone;
};

// Of devices whose clocks differ.
class FakeNvml : public Nvml {
 public:
  explicit FakeNvml(int number) : number_(number) {}
  DeviceState Read() const override {
    DeviceState state;
    state.sm_clock_mhz = number_ == 2 ? 1400 : 1900 + number_;
    state.power_w = 100 + number_;
    state.throttle_reasons = number_ == 2 ? "sw_power_cap" : "none";
    return state;
  }
  std::optional<double> EnergyJoules() const override { return std::nullopt; }
  std::string DriverVersion() const override { return ""; }

 private:
  int number_;
};

// Returns `count` devices of the host, of which one may have a fault.
inline GridDevices HostDevices(int count, const Fault& fault = {}) {
  GridDevices devices;
  devices.check = [count](int first, int asked) -> absl::Status {
    if (first + asked <= count) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("there are ", count));
  };
  devices.open = [fault](int number) -> absl::StatusOr<GridDevice> {
    const auto kind = number == fault.device ? fault.kind : Fault::kNone;
    GridDevice device;
    device.communication = std::make_unique<FakeCommunicationQueue>();
    device.open_queues = [number, kind](int) -> absl::StatusOr<std::unique_ptr<StreamQueues>> {
      const int64_t bytes = kind == Fault::kNoMemory ? 100 : std::numeric_limits<int64_t>::max();
      return std::make_unique<FakeStreamQueues>(number, bytes, kind == Fault::kFails ? 2 : -1);
    };
    device.multiply = [kind](const MatMulProblem& problem, cudaStream_t) -> absl::Status {
      RETURN_IF_ERROR(WideProductOnHost(problem, nullptr));
      if (kind == Fault::kWrongProduct && problem.m * problem.n > 0) {
        static_cast<float*>(problem.c.data)[0] += 1;
      }
      return absl::OkStatus();
    };
    device.permute = PermuteElements;
    device.peers = std::make_unique<FakePeerMemory>(kind != Fault::kReachesNothing);
    device.nvml = std::make_unique<FakeNvml>(number);
    return device;
  };
  return devices;
}

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_FAKE_GRID_DEVICES_H_
