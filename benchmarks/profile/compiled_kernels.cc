#include "benchmarks/profile/compiled_kernels.h"

namespace stridewise {
namespace {

constexpr executor::CompiledKernel kKernels[] = {
#include "benchmarks/profile/compiled_kernels.inc"
};

}  // namespace

const executor::CompiledKernel* FindCompiledKernel(absl::string_view key) {
  for (const executor::CompiledKernel& kernel : kKernels) {
    if (kernel.name == key) return &kernel;
  }
  return nullptr;
}

}  // namespace stridewise
