// What the registries of all operations say of an implementation in the same words. Each operation
// derives its own entry from Implementation and adds the function that runs it.

#ifndef STRIDEWISE_COMMON_GPU_IMPLEMENTATION_H_
#define STRIDEWISE_COMMON_GPU_IMPLEMENTATION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise {

enum class Where { kHost, kDevice };
enum class Blocks { kFixed, kAny };                    // May the caller choose the thread block?
enum class Executor { kHostExecutable, kDeviceOnly };  // Can the host executor run it?

// What a call of an implementation says that is not built in.
inline constexpr char kWithoutDeviceCode[] = "built without device code";

// Marks an implementation without a block of its own: host code, a library, or a kernel that
// chooses its block from the shape.
inline constexpr Block kNoBlock = {0, 0, 0};

// The processor that an implementation was written for.
struct Target {
  Where where = Where::kDevice;
  int min_compute_capability = 0;  // 90 for 9.0; 0 for any GPU and for the host.
  int shared_bytes = 0;       // Of a block; 0 where it needs no more than the 48 KB of any GPU.
  bool on_later_gpus = true;  // False for instructions that went as they came: wgmma.
};

// Makes the target of a kernel that needs a GPU of this compute capability: 80 for 8.0.
constexpr Target Sm(int compute_capability) { return {Where::kDevice, compute_capability}; }
inline constexpr Target kAnyGpu = {Where::kDevice, 0};
// A kernel of wgmma that has nothing else to run on other GPUs.
inline constexpr Target kHopperOnly = {Where::kDevice, 90, 0, false};
inline constexpr Target kHostCpu = {Where::kHost, 0};

// Returns whether a device of this compute capability, or the host beside it, has the target's
// instructions.
constexpr bool HasInstructions(int compute_capability, const Target& target) {
  return target.on_later_gpus ? target.min_compute_capability <= compute_capability
                              : target.min_compute_capability == compute_capability;
}

// Returns whether a device, or the host beside it, has what the target asks for.
constexpr bool HasWhatItTakes(const DeviceModel& device, const Target& target) {
  return HasInstructions(device.compute_capability, target) &&
         target.shared_bytes <= device.max_shared_bytes;
}

// The step of an implementation that is not part of the ladder, though it may stand beside it.
inline constexpr int kNoStep = 0;

struct Implementation {
  std::string name;
  std::string summary;  // One line: what it does.
  std::string teaches;  // One line: what it shows beside the step before it.
  Target target;

  // The place in the ladder, from 1 on, among the implementations of the same operation and
  // Target::where. kNoStep for variants of a step and kernels of the library, which the
  // ladder's comparisons leave out.
  int step = kNoStep;

  Blocks blocks = Blocks::kFixed;
  Block default_block = kNoBlock;
  Executor executor = Executor::kDeviceOnly;
  bool needs_cublas = false;
  bool on_host_memory = false;  // Takes operands in the host's memory though it runs on a device.
  bool is_built_in = false;     // False where the build lacks what it needs: device code.

  bool on_device() const { return target.where == Where::kDevice; }
  bool operands_on_device() const { return on_device() && !on_host_memory; }
};

// Returns the entry of that name; null where there is none.
template <typename Entry>
const Entry* FindByName(absl::Span<const Entry> entries, absl::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_IMPLEMENTATION_H_
