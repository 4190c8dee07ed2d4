// What transpose_sweep measures: from flags, or from a preset by name.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_PLAN_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/launch_geometry.h"
#include "common/sweep_args.h"
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
};

// Some implementations over some shapes, blocks and types; a preset is a list of these.
struct TransposePresetStep {
  const char* kernels;                 // As of --kernels.
  const char* sizes;                   // As of --sizes, squares; may be empty.
  const char* shapes = "";             // As of --shapes; may be empty.
  const char* blocks = "";             // As of --blocks; empty for the kernels' own.
  const char* types = "float";         // As of --types.
  int64_t max_host_size = kMaxExtent;  // Host implementations leave out larger extents.
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
};

// All configurations, each once, in the order in which they are measured: by shape as first named,
// then type, then implementation in registry order, then block, so that rows that belong together
// stand together. Sizes or shapes in `flags` replace the whole of the preset, kernels narrow it,
// types and blocks replace those of its steps. InvalidArgument if nothing is left.
absl::StatusOr<std::vector<TransposeConfig>> MakeTransposePlan(const TransposePreset& preset,
                                                               const TransposePlanFlags& flags);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_PLAN_H_
