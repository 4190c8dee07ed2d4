// The flags that all sweeps share, checked.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_FLAGS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/sweep_args.h"
#include "common/gpu/buffer.h"
#include "common/measure/sampler.h"

namespace stridewise {

// Which rows of kernels tell of their memory behaviour; see memory_behaviour.h.
enum class MemoryBehaviour { kAuto, kAlways, kNever };

struct SweepOptions {
  std::string csv;    // A resolved path, or "-".
  std::string shard;  // As rows name it; empty for all.
  bool resume = false;
  bool list = false;
  int device = 0;
  L2Mode l2 = L2Mode::kCold;
  HostMemory host_memory = HostMemory::kPageable;
  VerifyMode verify = VerifyMode::kFull;
  uint64_t seed = 0;
  double max_row_seconds = 0;
  MemoryBehaviour memory_behaviour = MemoryBehaviour::kAuto;
  std::vector<std::string> counters;       // Hardware counters that rows of the GPU tell.
  std::vector<std::string> host_counters;  // Those that rows of the host tell.
  int threads = 0;                         // Of the host; 0 for OpenMP's usual number.
  SamplingOptions sampling;
};

// Reads the flags. InvalidArgument, in one line that names the flag, its value and what is allowed.
// `default_csv` is the file when --csv is not given.
absl::StatusOr<SweepOptions> SweepOptionsFromFlags(absl::string_view default_csv);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_FLAGS_H_
