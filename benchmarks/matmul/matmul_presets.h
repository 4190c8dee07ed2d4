// What matmul_sweep measures by name.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_PRESETS_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_PRESETS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchmarks/matmul/matmul_limits.h"
#include "common/base/sweep_args.h"

namespace stridewise {

// Some implementations over some shapes, in some forms; a preset is a list of these.
struct MatMulPresetStep {
  std::string implementations;  // Names or globs.
  std::string sizes;            // As of --sizes, squares; may be empty.
  int64_t max_size = kMaxSize;  // Larger squares are left out.
  std::string shapes{};         // As of --shapes; may be empty.
  std::string layouts = "nn";   // As of --layouts.
  double alpha = 1;
  double beta = 0;
  int64_t batch = 1;
  int64_t random_shapes = 0;  // So many shapes more, extents from 1 to 1024, drawn from the seed.
};

struct MatMulPreset {
  const char* name;
  const char* description;
  std::vector<MatMulPresetStep> steps;
  bool cross_check = false;       // Compare the implementations' results with each other too.
  bool pair_with_cublas = false;  // Sample cuBLAS in turn with each device row.
};

absl::Span<const MatMulPreset> MatMulPresets();

// What the preset `limits` measures for a limit, and what is judged by it.
MatMulPresetStep StepOf(const MatMulLimit& limit);

// InvalidArgument, listing the presets, when there is none of that name.
absl::StatusOr<const MatMulPreset*> FindMatMulPreset(absl::string_view name);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_PRESETS_H_
