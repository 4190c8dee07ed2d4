// What it takes to run a configuration once, wherever that is: on the GPU or on the host executor.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_KERNEL_WORK_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_KERNEL_WORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "benchmarks/harness/kernel_config.h"
#include "common/gpu/cuda_handles.h"
#include "matmul/registry.h"

namespace stridewise {

// An input of so many bytes, full of random numbers of a type. Elements of a transpose are bits:
// theirs are those of random floats, and the last one may be cut short.
struct KernelInput {
  const char* name;
  size_t bytes;
  ElementType type;
  uint64_t seed;

  // How many numbers cover the bytes.
  int64_t count() const { return (static_cast<int64_t>(bytes) - 1) / ElementBytes(type) + 1; }
  size_t covering_bytes() const { return static_cast<size_t>(count() * ElementBytes(type)); }
};

struct KernelWork {
  std::vector<KernelInput> inputs;
  const char* output_name;
  size_t output_bytes;
  bool in_place = false;  // The output holds the first input before the run; `run` reads it there.
  size_t workspace_bytes = 0;  // 0 for most.
  int64_t element_bytes;
  bool needs_cublas;
  // Launches, as RunTranspose() and RunMatMul() do. `inputs` in the order of those above.
  std::function<absl::Status(absl::Span<void* const> inputs, void* output, void* workspace,
                             cudaStream_t stream, cublasHandle_t cublas)>
      run;
};

// REQUIRES of both: !IsEmpty(config).
KernelWork WorkOnDevice(const KernelConfig& config, uint64_t seed);
// Unimplemented for what the host executor cannot run.
absl::StatusOr<KernelWork> WorkOnExecutor(const KernelConfig& config, uint64_t seed);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_KERNEL_WORK_H_
