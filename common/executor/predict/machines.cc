// The machines. Where the numbers are from:
//
//   h200       NVIDIA H200 data sheet (4.8 TB/s); H100 white paper (132 multiprocessors, 256 KB of
//   L1
//              and shared memory each, 50 MB of L2); CUDA C++ Programming Guide, "Technical
//              Specifications per Compute Capability", 9.0; 1.98 GHz as measured.
//   rtx3080    GA102 white paper: 68 multiprocessors, 1.71 GHz, 128 KB, 5 MB, 760 GB/s; 8.6.
//   gtx770m    GK106 (GeForce GTX 770M): 5 multiprocessors, 0.705 GHz, 384 KB of L2, 96.19 GB/s as
//              its document has it; GK110 white paper for the multiprocessor; 3.0.
//   tegra_x1   Tegra X1 white paper and the data sheet of the Jetson Nano: 1 multiprocessor of 128
//              lanes, 0.9216 GHz, 256 KB of L2, 25.6 GB/s; 5.3.
// The second row of each was fitted to the H200's measured kernels for the H200 and carried over to
// the others, to which nothing was fitted: cycles in proportion to the latency of DRAM that
// microbenchmarks have published, the L2 of the RTX 3080 in proportion to multiprocessors, that of
// the older ones as 64 bytes a cycle for each memory partition, blocks started in a cycle as they
// are. A kernel that does nothing takes 5 us on the older ones.
//
//   m2090      Tesla M2090 data sheet: 16 multiprocessors, 1.3 GHz, 768 KB, 177.6 GB/s; 2.0.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/executor/predict/machine_model.h"

namespace stridewise::executor {
namespace {

constexpr double kKb = 1024, kMb = 1024 * 1024;

constexpr MachineModel kMachines[] = {
    {"h200", "NVIDIA H200", 132,  1.98,      4,    128,  64,       64,   32,
     65536,  228 * kKb,     1024, 256 * kKb, true, true, 50 * kMb, 4814, 1926,
     600,    270,           40,   29,        1395, 279,  0.834,    3.47},
    {"rtx3080", "GeForce RTX 3080",
     68,        1.71,
     4,         128,
     2,         48,
     16,        65536,
     100 * kKb, 1024,
     128 * kKb, true,
     true,      5 * kMb,
     760,       992,
     470,       200,
     33,        29,
     1093,      218,
     0.834,     3.47},
    {"gtx770m", "GeForce GTX 770M",
     5,         0.705,
     4,         192,
     8,         64,
     16,        65536,
     48 * kKb,  0,
     16 * kKb,  false,
     false,     384 * kKb,
     96.19,     192,
     300,       175,
     35,        47,
     698,       139,
     0.834,     5},
    {"tegra_x1", "Tegra X1 (Jetson Nano)",
     1,          0.9216,
     4,          128,
     4,          64,
     32,         65536,
     64 * kKb,   0,
     48 * kKb,   false,
     true,       256 * kKb,
     25.6,       64,
     370,        195,
     80,         28,
     860,        172,
     0.834,      5},
    {"m2090", "Tesla M2090", 16, 1.3,      1,     32,   16,        48,    8,
     32768,   48 * kKb,      0,  16 * kKb, false, true, 768 * kKb, 177.6, 384,
     500,     250,           80, 50,       1163,  232,  0.834,     5},
};

}  // namespace

absl::Span<const MachineModel> Machines() { return kMachines; }

absl::StatusOr<const MachineModel*> FindMachine(absl::string_view flag, absl::string_view name) {
  std::string names;
  for (const MachineModel& machine : kMachines) {
    if (machine.name == name) return &machine;
    absl::StrAppend(&names, names.empty() ? "" : ", ", machine.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": '", name, "' is not allowed; allowed is one of ", names));
}

}  // namespace stridewise::executor
