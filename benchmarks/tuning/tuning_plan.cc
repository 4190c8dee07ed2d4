#include "benchmarks/tuning/tuning_plan.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/matmul/operation.h"
#include "common/base/sweep_args.h"
#include "matmul/dispatch.h"

namespace stridewise {
namespace {

constexpr double kHopelessFlops = static_cast<double>(int64_t{1} << 34);

// Every implementation at every shape. Each shape weighs the same in the fit, so the list is what
// `auto` is tuned for: about as many of every kind as there are rules for it.
std::vector<Selection> DefaultSelections() {
  const auto batch = [](const char* shapes, int64_t count) {
    return Selection("*").Shapes(shapes).Batch(count);
  };
  return {
      Selection("*").Sizes(
          "8,32,64,96,128,160,192,224,256,320,384,448,512,576,640,704,768,832,896,960,1024,1152,"
          "1280,1408,1536,2048,3072,4096"),
      Selection("*").Sizes("100,1000,2049,4097"),  // Ragged.
      // Few rows or few columns, with a long and with a short k.
      Selection("*").Shapes(
          "1x4096x4096,4096x1x4096,8x4096x1024,16x4096x4096,4096x16x1024,16x4096x128,16x4096x256,"
          "24x4096x4096,32x4096x1024,4096x32x4096,64x4096x4096,16x16384x16384,16384x16x16384,"
          "48x2048x2048,128x4096x4096"),
      // A small C with a long k.
      Selection("*").Shapes(
          "32x32x400,64x64x1024,64x64x2048,64x64x8192,128x128x512,128x128x2048,128x128x4096,"
          "128x128x32768,128x128x100000,192x192x8192,256x256x1024,256x256x4096,512x512x4096"),
      // A short k.
      Selection("*").Shapes(
          "256x256x64,400x400x48,512x512x64,512x512x128,1024x1024x64,4096x4096x64,8192x128x128"),
      // A last column of tiles that is mostly outside C.
      Selection("*").Shapes(
          "8192x128x1024,8192x192x1024,8192x320x1024,4096x384x2048,8192x448x1024"),
      batch("16x16x16", 64),
      batch("16x16x16,32x32x32,64x64x64", 1000),
      batch("100x100x100,128x128x128", 100),
      batch("64x64x512,64x64x1024", 400),
      batch("256x256x256", 16),
  };
}

}  // namespace

absl::StatusOr<std::vector<Config>> MakeTuningPlan(const std::string& sizes,
                                                   const std::string& shapes) {
  PlanFlags flags;
  flags.sizes = sizes;
  flags.shapes = shapes;
  flags.implementations =
      absl::StrJoin(MatMulDispatchTable(), ",", [](std::string* out, const MatMulDispatch& row) {
        absl::StrAppend(out, row.implementation);
      });
  return MakePlan(MatMulOperation(), {"block_search", "", DefaultSelections(), false, ""}, flags);
}

bool IsHopeless(const Config& config, int compute_capability) {
  if (config.implementation->target.min_compute_capability > 0 ||
      config.operation->MakeProblem(config.point)->work().flops <= kHopelessFlops) {
    return false;
  }
  return std::any_of(
      MatMulDispatchTable().begin(), MatMulDispatchTable().end(), [&](const MatMulDispatch& row) {
        const int needs =
            FindMatMulImplementation(row.implementation)->target.min_compute_capability;
        return needs > 0 && needs <= compute_capability;
      });
}

}  // namespace stridewise
