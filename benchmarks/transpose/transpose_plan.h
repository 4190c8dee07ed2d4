// What transpose_sweep measures: from flags, or from a preset by name.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_PLAN_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/sweep_args.h"
#include "common/gpu/launch_geometry.h"
#include "transpose/registry.h"

namespace stridewise {

// An element type as rows name it. Bits are bits: float and int are the same work.
struct DataType {
  std::string name = "float";
  int64_t element_bytes = 4;
};

// A comma list of float, int, u8, u16, double and float4 (16 bytes). An empty text is an error.
absl::StatusOr<std::vector<DataType>> ParseDataTypes(absl::string_view flag,
                                                     absl::string_view text);

struct TransposeConfig {
  const TransposeImplementation* implementation = nullptr;
  Shape2 shape;  // Of the input.
  DataType type;
  Block block = {0, 0, 0};  // As the row will say; 0 x 0 where the implementation has none.
  int64_t batch = 1;        // Matrices of the shape, one behind the other without gaps.
};

// What must move: every element of the batch read once and written once.
double BytesToMove(const TransposeConfig& config);

// Whether it can be measured with more than one matrix. A copy of a batch is a larger copy.
bool TakesBatches(const TransposeImplementation& implementation);

// Some implementations over some shapes, blocks and types; a preset is a list of these.
struct TransposePresetStep {
  std::string kernels;                 // As of --kernels.
  std::string sizes;                   // As of --sizes, squares; may be empty.
  std::string shapes{};                // As of --shapes; may be empty.
  std::string blocks{};                // As of --blocks; empty for the kernels' own.
  std::string types = "float";         // As of --types.
  int64_t max_host_size = kMaxExtent;  // Host implementations leave out larger extents.
  int64_t batch = 1;                   // Above 1 only what takes batches is measured.
};

struct TransposePreset {
  const char* name;
  const char* description;
  std::vector<TransposePresetStep> steps;
};

absl::Span<const TransposePreset> TransposePresets();

// InvalidArgument, listing the presets, when there is none of that name.
absl::StatusOr<const TransposePreset*> FindTransposePreset(absl::string_view name);

// The flags' texts; an empty one was not given.
struct TransposePlanFlags {
  std::string sizes;
  std::string shapes;
  std::string kernels;
  std::string types;
  std::string blocks;
  std::string batch{};  // A number.
};

// All configurations, each once, in the order in which they are measured: by shape as first named,
// batch and then type, then implementation in registry order, then block, so that rows that belong
// together stand together. Sizes or shapes in `flags` replace the whole of the preset, kernels
// narrow it, types, blocks and batch replace those of its steps. InvalidArgument if nothing is
// left.
absl::StatusOr<std::vector<TransposeConfig>> MakeTransposePlan(const TransposePreset& preset,
                                                               const TransposePlanFlags& flags);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_PLAN_H_
