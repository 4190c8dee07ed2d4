#include "benchmarks/harness/machine.h"

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/git_commit.h"

namespace stridewise {
namespace {

std::string HostName() {
  char name[256] = "";
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

int UsableCores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

// "0-7,16": the processors that this program may run on.
std::string AffinityText() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return "";
  std::string text;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &set)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ",", first);
    if (last > first) absl::StrAppend(&text, "-", last);
    first = last;
  }
  return text;
}

// "AMD EPYC 9654, 16 cores": of the machine those that this program may use.
std::string CpuName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  std::string model = "unknown CPU";
  while (std::getline(cpuinfo, line)) {
    const size_t colon = line.find(':');
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      model = std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
      break;
    }
  }
  return absl::StrCat(model, ", ", UsableCores(), " cores");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Machine>> Machine::Open(const SweepOptions& options) {
  std::unique_ptr<Machine> machine(new Machine);
  machine->host_ = HostName();
  machine->cpu_ = CpuName();
  machine->affinity_ = AffinityText();
  const SteadyClock clock;
  const double start = clock.Now();
  absl::StatusOr<DeviceInfo> device = OpenDevice(options.device);
  machine->context_ms_ = (clock.Now() - start) * 1e3;
  if (absl::IsInvalidArgument(device.status())) {
    return absl::InvalidArgumentError(absl::StrCat("--device: ", device.status().message()));
  }
  machine->gpu_status_ = device.status();
  if (!device.ok()) return machine;

  machine->device_ = *std::move(device);
  machine->nvml_ = Nvml::Open(machine->device_->pci_bus_id);
  machine->driver_ = machine->nvml_->DriverVersion();
  ASSIGN_OR_RETURN(machine->timer_,
                   GpuTimer::Create(*machine->device_, options.l2 == L2Mode::kCold));
  return machine;
}

void Machine::Describe(bool device_row, ResultRow* row) const {
  row->Set(Column::kTimestampUtc,
           absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone()));
  row->Set(Column::kGitCommit, GitCommit());
  row->Set(Column::kHost, host_);
  row->Set(Column::kCpu, cpu_);
  if (!device_row) row->Set(Column::kAffinity, affinity_);
  if (!device_row || !device_.has_value()) return;
  row->Set(Column::kDevice, device_->name);
  // Texts, not numbers: a spreadsheet would show 9.0 as 9, and 13.0 as a date in some languages.
  row->Set(Column::kComputeCapability,
           absl::StrCat("sm_", device_->compute_major, device_->compute_minor));
  row->Set(Column::kDriver, driver_);
  row->Set(Column::kCuda, absl::StrCat("CUDA ", CudaVersionText(device_->runtime_cuda_version)));
  row->Set(Column::kEmptyKernelMs, timer_->EmptyKernelMs());
}

std::string Machine::Headline() const {
  const std::string commit = GitCommit();
  std::string gpu = absl::StrCat("no GPU (", gpu_status_.message(), ")");
  if (device_.has_value()) {
    gpu = absl::StrFormat("%s, %.0f GB/s, %.1f TFLOP/s FP32, empty kernel %.2f us", device_->name,
                          PeakBandwidthGbps(*device_), PeakFp32Gflops(*device_) / 1e3,
                          timer_->EmptyKernelMs() * 1e3);
  }
  return absl::StrCat(gpu, "; ", cpu_, "; commit ", commit.empty() ? "unknown" : commit);
}

}  // namespace stridewise
