// What a runner needs of the device for one implementation and one problem, beside the operands.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_DEVICE_ARM_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_DEVICE_ARM_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "benchmarks/harness/problem.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/implementation.h"

namespace stridewise {

using DeviceCall =
    std::function<absl::Status(absl::Span<void* const> inputs, void* output, cudaStream_t stream)>;

// One side of a measurement on the device: an implementation bound to the problem, and the memory
// that it needs beside the operands.
class DeviceArm {
 public:
  static absl::StatusOr<DeviceArm> Create(const Implementation& implementation, const Block& block,
                                          const Problem& problem, cublasHandle_t cublas) {
    DeviceArm arm;
    arm.binding_ = problem.Bind(implementation, block);
    arm.output_bytes_ = problem.output().bytes;
    arm.cublas_ = cublas;
    ASSIGN_OR_RETURN(arm.workspace_, DeviceBuffer::Allocate(arm.binding_.workspace_bytes));
    return arm;
  }

  // Both borrow the arm.
  DeviceCall Run() const {
    return [this](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
      return binding_.run({inputs, output, workspace_.data(), stream, cublas_});
    };
  }
  DeviceCall Prepare() const {
    if (binding_.output_starts_as < 0) return nullptr;
    return [this](absl::Span<void* const> inputs, void* output, cudaStream_t stream) {
      const auto input = static_cast<size_t>(binding_.output_starts_as);
      return gpu::CopyOnDevice(output, inputs[input], output_bytes_, stream);
    };
  }

 private:
  Binding binding_;
  size_t output_bytes_ = 0;
  cublasHandle_t cublas_ = nullptr;
  DeviceBuffer workspace_;
};

// Memory for the smallest problem on the device, for the first use of an implementation.
class TinyOperands {
 public:
  static absl::StatusOr<TinyOperands> Create(const Problem& problem);

  absl::Span<void* const> inputs() const { return inputs_; }
  void* output() const { return buffers_.back().data(); }

 private:
  absl::Status Add(size_t bytes);

  std::vector<DeviceBuffer> buffers_;
  std::vector<void*> inputs_;
};

// InvalidArgument where the device lacks the instructions of the implementation.
absl::Status CheckComputeCapability(const Implementation& implementation, const DeviceInfo& device);

// ResourceExhausted where the operands alone are larger than the device's memory. Cheap: to be
// asked before the host's operands are made, which takes minutes at the size of a large card.
absl::Status CheckDeviceMemory(const Problem& problem, const DeviceInfo& device);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_DEVICE_ARM_H_
