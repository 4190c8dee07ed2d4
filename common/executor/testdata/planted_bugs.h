// Kernels with one defect each, for tests of what the executor finds.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_PLANTED_BUGS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_PLANTED_BUGS_H_

#include <vector>

#include "absl/status/status.h"
#include "common/executor/finding.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise::executor {

// `in` is read-only and initialised, `out` has not been written; 64 floats each.
struct BugArgs {
  float* out;
  float* in;
  cudaStream_t stream;
};

struct PlantedBug {
  const char* name;  // Of the kernel. Its defect's line ends in "// BUG Name".
  Check check;
  absl::Status (*launch)(const BugArgs& args);
};

// Those of CUDA C++.
std::vector<PlantedBug> PlantedBugs();
// Those of inline PTX that needs neither wgmma nor the TMA.
std::vector<PlantedBug> PtxBugs();

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_PLANTED_BUGS_H_
