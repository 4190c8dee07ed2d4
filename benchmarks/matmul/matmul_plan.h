// What matmul_sweep measures: from flags, and from a preset.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_PLAN_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/matmul/matmul_config.h"
#include "benchmarks/matmul/matmul_presets.h"

namespace stridewise {

// The flags' texts; an empty one was not given.
struct MatMulPlanFlags {
  std::string sizes;
  std::string shapes;
  std::string implementations;
  std::string types;
  std::string blocks;
  uint64_t seed = 1;
  std::string layouts{};
  std::string alpha{};  // A number.
  std::string beta{};   // A number.
  std::string batch{};  // A number.
};

// All configurations, each once, in the order in which they are measured: by shape, those of a
// preset from small to large, then form as first named, then type, then implementation in registry
// order, so that rows that belong together stand together. Sizes or shapes in `flags` replace those
// of the preset, implementations narrow them, layouts, alpha, beta and batch replace those of its
// steps. Of another form than the plain product only what takes it is there. InvalidArgument if
// nothing is left.
absl::StatusOr<std::vector<MatMulConfig>> MakeMatMulPlan(const MatMulPreset& preset,
                                                         const MatMulPlanFlags& flags);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_PLAN_H_
