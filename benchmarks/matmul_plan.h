// What matmul_sweep measures: from flags, or from a preset by name.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_PLAN_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/launch_geometry.h"
#include "common/sweep_args.h"
#include "matmul/registry.h"

namespace stridewise {

struct MatMulConfig {
  const MatMulImplementation* implementation = nullptr;
  Shape3 shape;
  ElementType type = ElementType::kFloat;
  Block block = {0, 0, 0};  // As the row will say; 0 x 0 where the implementation has none.
};

// Some implementations over some sizes; a preset is a list of these.
struct MatMulPresetStep {
  const char* implementations;  // Names or globs.
  const char* sizes;            // As of --sizes, squares; or "random:COUNT", see below.
  int64_t max_size;             // Larger ones are left out.
};

struct MatMulPreset {
  const char* name;
  const char* description;
  std::vector<MatMulPresetStep> steps;
  bool cross_check;  // Compare the implementations' results with each other too.
};

absl::Span<const MatMulPreset> MatMulPresets();

// InvalidArgument, listing the presets, when there is none of that name.
absl::StatusOr<const MatMulPreset*> FindMatMulPreset(absl::string_view name);

// The flags' texts; an empty one was not given.
struct MatMulPlanFlags {
  std::string sizes;
  std::string shapes;
  std::string implementations;
  std::string types;
  std::string blocks;
  uint64_t seed = 1;
};

// All configurations in the order in which they are measured: by shape, then type, then
// implementation in registry order, so that rows that belong together stand together. Sizes or
// shapes in `flags` replace those of the preset, implementations narrow them.
//
// "random:COUNT" stands for so many shapes with extents from 1 to 1024, drawn from the seed.
absl::StatusOr<std::vector<MatMulConfig>> MakeMatMulPlan(const MatMulPreset& preset,
                                                         const MatMulPlanFlags& flags);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_PLAN_H_
