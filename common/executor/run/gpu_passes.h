// The passes of LLVM's optimizer, in the order and with the limits that make of loads and stores
// what nvcc makes of them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_GPU_PASSES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_GPU_PASSES_H_

#include <functional>
#include <string>
#include <vector>

namespace stridewise::executor {

// A step of the optimizer: the passes of one run, for which `edit` changes the IR's lines before.
struct GpuStep {
  std::function<std::vector<std::string>(std::vector<std::string> lines)> edit;
  std::vector<std::string> options;
};

// Returns the steps, in their order.
std::vector<GpuStep> GpuSteps();

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_GPU_PASSES_H_
