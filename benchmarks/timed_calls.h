// The calls that call_time times, of the library and of cuBLAS, and the memory that they work on.

#ifndef STRIDEWISE_BENCHMARKS_TIMED_CALLS_H_
#define STRIDEWISE_BENCHMARKS_TIMED_CALLS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/cuda_handles.h"
#include "matmul/context.h"

namespace stridewise {

// A call, and the host's microseconds for it.
struct TimedCall {
  std::string call;
  std::string shape;
  std::function<absl::Status(cudaStream_t)> run;
  std::vector<double> idle{};
  std::vector<double> filled{};
};

// What calls work on. The values do not matter: memory of zeros.
struct CallMemory {
  DeviceBuffer a, b, c, workspace;
  CublasHandle cublas;
  std::optional<MatMulContext> context;
};

// Allocates it, with a handle and a context of the stream.
absl::StatusOr<CallMemory> AllocateCallMemory(cudaStream_t stream);

// Adds products and transposes of many sizes, each by all calls that take it. The memory must
// outlive them, and stay where it is.
void AddProducts(CallMemory& memory, std::vector<TimedCall>* calls);
void AddTransposes(const CallMemory& memory, std::vector<TimedCall>* calls);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TIMED_CALLS_H_
