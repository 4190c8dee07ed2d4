#include "common/gpu/nvml.h"

#include <dlfcn.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stridewise {
namespace {

// From the NVML reference: the toolkit's header is not there on every machine that builds us.
using NvmlReturn = int;  // 0 is success.
using NvmlDevice = struct NvmlDeviceOpaque*;
constexpr int kClockSm = 1;
constexpr int kTemperatureGpu = 0;

struct ReasonName {
  unsigned long long bit;
  const char* name;
};
constexpr ReasonName kReasonNames[] = {
    {0x001, "gpu_idle"},
    {0x002, "applications_clocks"},
    {0x004, "sw_power_cap"},
    {0x008, "hw_slowdown"},
    {0x010, "sync_boost"},
    {0x020, "sw_thermal_slowdown"},
    {0x040, "hw_thermal_slowdown"},
    {0x080, "hw_power_brake"},
    {0x100, "display_clocks"},
};

class LoadedNvml : public Nvml {
 public:
  explicit LoadedNvml(absl::string_view pci_bus_id) {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    NvmlReturn (*init)() = nullptr;
    NvmlReturn (*by_bus_id)(const char*, NvmlDevice*) = nullptr;
    if (!Find("nvmlInit_v2", &init) || init() != 0) return;
    initialised_ = true;
    if (Find("nvmlDeviceGetHandleByPciBusId_v2", &by_bus_id)) {
      const std::string id(pci_bus_id);
      has_device_ = by_bus_id(id.c_str(), &device_) == 0;
    }
    Find("nvmlDeviceGetClockInfo", &clock_info_);
    Find("nvmlDeviceGetPowerUsage", &power_usage_);
    Find("nvmlDeviceGetTemperature", &temperature_);
    // Renamed in driver 535; older drivers know the second name.
    if (!Find("nvmlDeviceGetCurrentClocksEventReasons", &reasons_)) {
      Find("nvmlDeviceGetCurrentClocksThrottleReasons", &reasons_);
    }
    Find("nvmlDeviceGetTotalEnergyConsumption", &energy_);
    Find("nvmlSystemGetDriverVersion", &driver_version_);
  }

  ~LoadedNvml() override {
    NvmlReturn (*shutdown)() = nullptr;
    if (initialised_ && Find("nvmlShutdown", &shutdown)) shutdown();
    if (library_ != nullptr) dlclose(library_);
  }

  LoadedNvml(const LoadedNvml&) = delete;
  LoadedNvml& operator=(const LoadedNvml&) = delete;

  DeviceState Read() const override {
    DeviceState state;
    if (!has_device_) return state;
    unsigned value = 0;
    unsigned long long bits = 0;
    if (clock_info_ != nullptr && clock_info_(device_, kClockSm, &value) == 0) {
      state.sm_clock_mhz = static_cast<int>(value);
    }
    if (power_usage_ != nullptr && power_usage_(device_, &value) == 0) {
      state.power_w = value / 1000.0;  // Milliwatts.
    }
    if (temperature_ != nullptr && temperature_(device_, kTemperatureGpu, &value) == 0) {
      state.temperature_c = static_cast<int>(value);
    }
    if (reasons_ != nullptr && reasons_(device_, &bits) == 0) {
      state.throttle_reasons = ThrottleReasonNames(bits);
    }
    return state;
  }

  std::optional<double> EnergyJoules() const override {
    unsigned long long millijoules = 0;
    if (!has_device_ || energy_ == nullptr || energy_(device_, &millijoules) != 0) {
      return std::nullopt;
    }
    return static_cast<double>(millijoules) / 1000;
  }

  std::string DriverVersion() const override {
    char version[96] = "";
    if (!initialised_ || driver_version_ == nullptr ||
        driver_version_(version, sizeof(version)) != 0) {
      return "";
    }
    return version;
  }

 private:
  template <typename Function>
  bool Find(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(dlsym(library_, name));
    return *function != nullptr;
  }

  void* library_ = nullptr;
  bool initialised_ = false;
  bool has_device_ = false;
  NvmlDevice device_ = nullptr;
  NvmlReturn (*clock_info_)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*power_usage_)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*temperature_)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*reasons_)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlReturn (*energy_)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlReturn (*driver_version_)(char*, unsigned) = nullptr;
};

}  // namespace

std::string ThrottleReasonNames(unsigned long long bits) {
  std::vector<std::string> names;
  for (const ReasonName& reason : kReasonNames) {
    if ((bits & reason.bit) != 0) names.emplace_back(reason.name);
    bits &= ~reason.bit;
  }
  if (bits != 0) names.push_back(absl::StrCat("0x", absl::Hex(bits)));
  return names.empty() ? "none" : absl::StrJoin(names, "|");
}

std::unique_ptr<Nvml> Nvml::Open(absl::string_view pci_bus_id) {
  return std::make_unique<LoadedNvml>(pci_bus_id);
}

}  // namespace stridewise
