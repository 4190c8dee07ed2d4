// The machine code of the ladders' kernels as nvcc compiles them for the H200 (sm_90a).

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_COMPILED_KERNELS_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_COMPILED_KERNELS_H_

#include "absl/strings/string_view.h"
#include "common/executor/predict/compiled_kernel.h"

namespace stridewise {

// Returns the kernel with this key, as executor::KernelKey() makes it, or null.
const executor::CompiledKernel* FindCompiledKernel(absl::string_view key);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_COMPILED_KERNELS_H_
