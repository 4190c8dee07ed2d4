// The kernels that h200_counters_512.csv has an H200's counters of: transposes and copies of
// 512 x 512 floats, products of 128 x 128.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_REFERENCE_KERNELS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_REFERENCE_KERNELS_H_

#include <vector>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise::executor {

inline constexpr int kReferenceExtent = 512;

// 512 x 512 floats each. The factors of a product are the first 128 x 128 of `in` and those behind.
struct ReferenceArgs {
  float* out;
  const float* in;
  Grid grid;
  Block block;
  cudaStream_t stream;
};

struct ReferenceKernel {
  const char* name;  // In the CSV.
  absl::Status (*launch)(const ReferenceArgs& args);
};

// The same kernels, compiled as every simt_library is, and at other levels of optimisation.
namespace as_usual {
std::vector<ReferenceKernel> ReferenceKernels();
}
namespace at_o0 {
std::vector<ReferenceKernel> ReferenceKernels();
}
namespace at_o2 {
std::vector<ReferenceKernel> ReferenceKernels();
}
namespace at_o3 {
std::vector<ReferenceKernel> ReferenceKernels();
}

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_REFERENCE_KERNELS_H_
