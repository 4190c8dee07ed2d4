// Reads a GPU's clock, power, energy, temperature and throttle reasons from NVIDIA's management
// library.
//
// The library comes with the driver and is opened at run time. A value is empty where the library
// or its answer is missing: a row without a temperature is no error.

#ifndef STRIDEWISE_COMMON_GPU_NVML_H_
#define STRIDEWISE_COMMON_GPU_NVML_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace stridewise {

// The state of a GPU at one moment.
struct DeviceState {
  std::optional<int> sm_clock_mhz;
  std::optional<double> power_w;
  std::optional<int> temperature_c;
  std::optional<std::string> throttle_reasons;  // Joined by '|'; "none" where nothing limits it.
};

// Returns the names of the bits of NVML's clocks event reasons, joined by '|', or "none" for 0.
std::string ThrottleReasonNames(unsigned long long bits);

// The library, opened for one device.
class Nvml {
 public:
  // Opens the library for the device with DeviceInfo's `pci_bus_id`. Never fails: without library
  // or device all answers are empty.
  static std::unique_ptr<Nvml> Open(absl::string_view pci_bus_id);

  virtual ~Nvml() = default;

  // Returns the present state. Takes about 1 ms.
  virtual DeviceState Read() const = 0;

  // Returns the joules that the GPU has used since the driver was loaded; empty where it does not
  // count them. The counter moves every 20 to 100 ms.
  virtual std::optional<double> EnergyJoules() const = 0;

  // Returns the driver's version, such as "580.159.04"; empty where unknown.
  virtual std::string DriverVersion() const = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_NVML_H_
