// What a GPU is and can do, as numbers; which one to use.

#ifndef STRIDEWISE_COMMON_GPU_DEVICE_H_
#define STRIDEWISE_COMMON_GPU_DEVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stridewise {

// A CUDA device and what it is able to do.
struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string pci_bus_id;  // As NVML wants it: 0000:01:00.0
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int64_t sm_clock_khz = 0;      // Highest.
  int64_t memory_clock_khz = 0;  // Highest; data moves on both edges.
  int memory_bus_bits = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int max_threads_per_block = 0;
  int64_t max_shared_bytes_per_block = 0;  // With the opt-in.
  int driver_cuda_version = 0;             // 13000 is CUDA 13.0; the newest that the driver serves.
  int runtime_cuda_version = 0;            // What this program was built with.
};

// FP32 lanes of one multiprocessor; 0 for an architecture that is not known.
int Fp32LanesPerMultiprocessor(int compute_major, int compute_minor);

// Upper limits from clocks and widths; 0 where an attribute is unknown.
double PeakBandwidthGbps(const DeviceInfo& device);  // Decimal GB/s.
double PeakFp32Gflops(const DeviceInfo& device);     // A multiply-add counts as two.

// "13.0" for 13000.
std::string CudaVersionText(int version);

// All devices; Unavailable, with the reason, where there is none.
absl::StatusOr<std::vector<DeviceInfo>> ListDevices();

// Device `index`, made current, its context created. InvalidArgument when there is no such device.
absl::StatusOr<DeviceInfo> OpenDevice(int index);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_DEVICE_H_
