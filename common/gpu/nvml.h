// A GPU's clock, power, temperature and throttle reasons, from NVIDIA's management library.
//
// The library comes with the driver and is opened when the program runs. Where it, or one of its
// answers, is missing, the value is empty: a row without a temperature is no error.

#ifndef STRIDEWISE_COMMON_GPU_NVML_H_
#define STRIDEWISE_COMMON_GPU_NVML_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace stridewise {

// What a GPU says of itself at one moment.
struct DeviceState {
  std::optional<int> sm_clock_mhz;
  std::optional<double> power_w;
  std::optional<int> temperature_c;
  std::optional<std::string> throttle_reasons;  // Joined by '|'; "none" when the clock is free.
};

// Names of the bits of NVML's clocks event reasons, joined by '|'; "none" for 0.
std::string ThrottleReasonNames(unsigned long long bits);

// The library, opened for one device.
class Nvml {
 public:
  // Never fails: without the library, or without the device, all answers are empty. `pci_bus_id` as
  // in DeviceInfo.
  static std::unique_ptr<Nvml> Open(absl::string_view pci_bus_id);

  virtual ~Nvml() = default;

  // About 1 ms.
  virtual DeviceState Read() const = 0;

  // "580.159.04"; empty where unknown.
  virtual std::string DriverVersion() const = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_NVML_H_
