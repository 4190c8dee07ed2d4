// The properties and peak rates of GPUs, and the choice of one.

#ifndef STRIDEWISE_COMMON_GPU_DEVICE_H_
#define STRIDEWISE_COMMON_GPU_DEVICE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/gpu/device_model.h"

namespace stridewise {

// The properties of a CUDA device.
struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string pci_bus_id;  // In NVML's form: 0000:01:00.0
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int64_t sm_clock_khz = 0;      // The highest.
  int64_t memory_clock_khz = 0;  // The highest; data moves on both edges.
  int memory_bus_bits = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int max_threads_per_block = 0;
  int64_t max_shared_bytes_per_block = 0;  // With the opt-in.
  int driver_cuda_version = 0;   // The newest version that the driver serves; 13000 is CUDA 13.0.
  int runtime_cuda_version = 0;  // The version that this program was built with.
};

// Returns the FP32 lanes of one multiprocessor, or 0 for an unknown architecture.
int Fp32LanesPerMultiprocessor(int compute_major, int compute_minor);

// Return the peak rates that follow from clocks and widths, or 0 where an attribute is unknown.
double PeakBandwidthGbps(const DeviceInfo& device);  // Decimal GB/s.
double PeakFp32Gflops(const DeviceInfo& device);     // A multiply-add counts as two.
// Of tensor cores with dense BF16 or FP16 operands and sums in FP32. 0 where the rate is not known.
double PeakTensor16BitGflops(const DeviceInfo& device);

// Returns what plans and choices are computed from, as FindCurrentDeviceModel() of current_device.h
// does for the device itself. Attributes that are 0 are those of an H200.
DeviceModel ModelOf(const DeviceInfo& device);

// Returns "13.0" for 13000.
std::string CudaVersionText(int version);

// Makes device `index` current, creates its context and returns its properties. Returns
// InvalidArgument if there is no such device, and Unavailable with the reason if there is none.
absl::StatusOr<DeviceInfo> OpenDevice(int index);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_DEVICE_H_
