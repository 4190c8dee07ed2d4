#include "common/gpu/device.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {

int Fp32LanesPerMultiprocessor(int compute_major, int compute_minor) {
  // CUDA C++ Programming Guide, "Arithmetic Instructions": results per clock cycle and SM.
  switch (compute_major * 10 + compute_minor) {
    case 70:
    case 72:
    case 75:
    case 80:
      return 64;
    case 86:
    case 87:
    case 89:
    case 90:
    case 100:
    case 103:
    case 110:
    case 120:
    case 121:
      return 128;
    default:
      return 0;
  }
}

double PeakBandwidthGbps(const DeviceInfo& device) {
  const double transfers_per_second = 2.0 * 1e3 * static_cast<double>(device.memory_clock_khz);
  return transfers_per_second * device.memory_bus_bits / 8 / 1e9;
}

double PeakFp32Gflops(const DeviceInfo& device) {
  const double lanes = static_cast<double>(device.multiprocessors) *
                       Fp32LanesPerMultiprocessor(device.compute_major, device.compute_minor);
  return 2.0 * lanes * 1e3 * static_cast<double>(device.sm_clock_khz) / 1e9;
}

double PeakTensor16BitGflops(const DeviceInfo& device) {
  const int capability = 10 * device.compute_major + device.compute_minor;
  const double flops_per_clock = capability == 90 ? 4096 : capability == 80 ? 2048 : 0;
  return flops_per_clock * device.multiprocessors * 1e3 * static_cast<double>(device.sm_clock_khz) /
         1e9;
}

DeviceModel ModelOf(const DeviceInfo& device) {
  DeviceModel model = H200Model();
  if (device.compute_major > 0) {
    model.compute_capability = 10 * device.compute_major + device.compute_minor;
  }
  if (device.multiprocessors > 0) model.multiprocessors = device.multiprocessors;
  if (device.max_shared_bytes_per_block > 0) {
    model.max_shared_bytes = static_cast<int>(device.max_shared_bytes_per_block);
  }
  const auto memory_gbps = static_cast<int>(std::lround(PeakBandwidthGbps(device)));
  return memory_gbps > 0 ? WithMemoryRate(model, memory_gbps) : model;
}

std::string CudaVersionText(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

absl::StatusOr<DeviceInfo> OpenDevice(int index) {
  ASSIGN_OR_RETURN(const int count, gpu::DeviceCount());
  if (index < 0 || index >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("device ", index, " does not exist; allowed is 0 to ", count - 1));
  }
  RETURN_IF_ERROR(gpu::UseDevice(index));
  return gpu::QueryDevice(index);
}

}  // namespace stridewise
