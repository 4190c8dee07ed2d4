#include "benchmarks/harness/device_arm.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stridewise {

absl::StatusOr<TinyOperands> TinyOperands::Create(const Problem& problem) {
  TinyOperands tiny;
  for (const BufferSpec& spec : problem.inputs()) {
    RETURN_IF_ERROR(tiny.Add(spec.bytes));
    tiny.inputs_.push_back(tiny.buffers_.back().data());
  }
  RETURN_IF_ERROR(tiny.Add(problem.output().bytes));
  return tiny;
}

absl::Status TinyOperands::Add(size_t bytes) {
  ASSIGN_OR_RETURN(DeviceBuffer buffer, DeviceBuffer::Allocate(bytes));
  RETURN_IF_ERROR(buffer.Poison());  // initcheck would report reads of what nobody wrote.
  buffers_.push_back(std::move(buffer));
  return absl::OkStatus();
}

absl::Status CheckComputeCapability(const Implementation& implementation,
                                    const DeviceInfo& device) {
  const int has = 10 * device.compute_major + device.compute_minor;
  const Target& target = implementation.target;
  if (HasInstructions(has, target)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(implementation.name, " needs sm_",
                                                 target.min_compute_capability,
                                                 "; the device is sm_", has));
}

absl::Status CheckDeviceMemory(const Problem& problem, const DeviceInfo& device) {
  auto bytes = static_cast<int64_t>(problem.output().bytes);
  for (const BufferSpec& input : problem.inputs()) bytes += static_cast<int64_t>(input.bytes);
  if (device.memory_bytes == 0 || bytes <= device.memory_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "device memory: ", bytes, " bytes requested, the device has ", device.memory_bytes));
}

}  // namespace stridewise
