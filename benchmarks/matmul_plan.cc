#include "benchmarks/matmul_plan.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/fill.h"
#include "common/status_macros.h"

namespace stridewise {
namespace {

constexpr int64_t kNoLimit = kMaxSize;
constexpr int64_t kMaxRandomExtent = 1024;

// What one shape is measured with: indices into the registry.
struct ShapeWork {
  Shape3 shape;
  std::set<size_t> implementations;
};

std::vector<std::string> ImplementationNames() {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    names.push_back(implementation.name);
  }
  return names;
}

absl::StatusOr<std::vector<Shape3>> StepShapes(const MatMulPresetStep& step, uint64_t seed) {
  std::vector<Shape3> shapes;
  absl::string_view text = step.sizes;
  if (absl::ConsumePrefix(&text, "random:")) {
    int64_t count = 0;
    if (!absl::SimpleAtoi(text, &count)) return absl::InternalError("preset: bad random count");
    for (int64_t i = 0; i < count; ++i) {
      const auto extent = [&](int64_t j) {
        return static_cast<int64_t>(Mix64(seed ^ Mix64(static_cast<uint64_t>(3 * i + j))) %
                                    kMaxRandomExtent) +
               1;
      };
      shapes.push_back({extent(0), extent(1), extent(2)});
    }
    return shapes;
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ParseSizes("preset", text));
  for (const int64_t size : sizes) {
    if (size <= step.max_size) shapes.push_back({size, size, size});
  }
  return shapes;
}

// Adds the shape to the list, or the implementations to the shape that is there.
void Add(const Shape3& shape, const std::vector<size_t>& implementations,
         std::vector<ShapeWork>* work) {
  const auto same = std::find_if(work->begin(), work->end(), [&](const ShapeWork& w) {
    return std::tie(w.shape.m, w.shape.n, w.shape.k) == std::tie(shape.m, shape.n, shape.k);
  });
  ShapeWork& entry = same != work->end() ? *same : work->emplace_back(ShapeWork{shape, {}});
  entry.implementations.insert(implementations.begin(), implementations.end());
}

absl::StatusOr<std::vector<ShapeWork>> PresetWork(const MatMulPreset& preset, uint64_t seed) {
  std::vector<ShapeWork> work;
  for (const MatMulPresetStep& step : preset.steps) {
    ASSIGN_OR_RETURN(const std::vector<size_t> implementations,
                     SelectByGlob("preset", step.implementations, ImplementationNames()));
    ASSIGN_OR_RETURN(const std::vector<Shape3> shapes, StepShapes(step, seed));
    for (const Shape3& shape : shapes) Add(shape, implementations, &work);
  }
  // Squares from small to large; a random preset stays as drawn.
  std::stable_sort(work.begin(), work.end(), [](const ShapeWork& a, const ShapeWork& b) {
    return MatMulFlops(a.shape.m, a.shape.n, a.shape.k) <
           MatMulFlops(b.shape.m, b.shape.n, b.shape.k);
  });
  return work;
}

absl::StatusOr<std::vector<ShapeWork>> FlagWork(const MatMulPlanFlags& flags) {
  std::vector<ShapeWork> work;
  ASSIGN_OR_RETURN(const std::vector<size_t> implementations,
                   SelectByGlob("--implementations", flags.implementations, ImplementationNames()));
  if (!flags.sizes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ParseSizes("--sizes", flags.sizes));
    for (const int64_t size : sizes) Add({size, size, size}, implementations, &work);
  }
  if (!flags.shapes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<Shape3> shapes, ParseShapes("--shapes", flags.shapes));
    for (const Shape3& shape : shapes) Add(shape, implementations, &work);
  }
  return work;
}

absl::StatusOr<std::vector<ElementType>> ParseTypes(const std::string& text) {
  std::vector<ElementType> types;
  for (const absl::string_view name : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    if (absl::StripAsciiWhitespace(name) == "float") {
      types.push_back(ElementType::kFloat);
    } else if (absl::StripAsciiWhitespace(name) == "double") {
      types.push_back(ElementType::kDouble);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("--types: '", name, "' is not allowed; allowed is float and double"));
    }
  }
  if (types.empty()) types.push_back(ElementType::kFloat);
  return types;
}

}  // namespace

absl::Span<const MatMulPreset> MatMulPresets() {
  static const auto& presets = *new std::vector<MatMulPreset>{
      {"default",
       "every implementation over the powers of two, in a minute or two",
       {{"cpu_naive", "32:512:*2", kNoLimit},
        {"eigen*,naive*", "32:2048:*2,1000", kNoLimit},
        {"tiled*,cublas*", "32:4096:*2,1000", kNoLimit}},
       false},
      {"cublas_vs_eigen",
       "the assignment's first study: cuBLAS against Eigen to 10000, cuBLAS alone to 26000",
       {{"eigen,cublas", "1:5001:10,5000:10000:1000", kNoLimit},
        {"cublas", "10000:26000:1000", kNoLimit}},
       false},
      {"own_kernels",
       "the assignment's second study: CPU to 1024, naive to 2048, tiled to 4096",
       {{"cpu_naive", "1:991:10,1000:4000:100,32:4096:*2", 1024},
        {"naive*", "1:991:10,1000:4000:100,32:4096:*2", 2048},
        {"tiled*", "1:991:10,1000:4000:100,32:4096:*2", kNoLimit}},
       false},
      {"proof",
       "random shapes up to 1024: all implementations against the FP64 reference and each other",
       {{"*", "random:10", kNoLimit}},
       true},
  };
  return presets;
}

absl::StatusOr<const MatMulPreset*> FindMatMulPreset(absl::string_view name) {
  std::vector<std::string> names;
  for (const MatMulPreset& preset : MatMulPresets()) {
    if (preset.name == name) return &preset;
    names.emplace_back(preset.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--preset: '", name, "' is not known; allowed is ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<std::vector<MatMulConfig>> MakeMatMulPlan(const MatMulPreset& preset,
                                                         const MatMulPlanFlags& flags) {
  const bool own_shapes = !flags.sizes.empty() || !flags.shapes.empty();
  ASSIGN_OR_RETURN(const std::vector<ShapeWork> work,
                   own_shapes ? FlagWork(flags) : PresetWork(preset, flags.seed));
  ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                   SelectByGlob("--implementations", flags.implementations, ImplementationNames()));
  ASSIGN_OR_RETURN(const std::vector<ElementType> types, ParseTypes(flags.types));
  std::vector<BlockShape> blocks;
  if (!flags.blocks.empty()) {
    ASSIGN_OR_RETURN(blocks, ParseBlocks("--blocks", flags.blocks));
  }

  std::vector<MatMulConfig> plan;
  for (const ShapeWork& entry : work) {
    for (const ElementType type : types) {
      for (const size_t index : entry.implementations) {
        if (!std::binary_search(selected.begin(), selected.end(), index)) continue;
        const MatMulImplementation& implementation = MatMulImplementations()[index];
        if (blocks.empty() || implementation.blocks == Blocks::kFixed) {
          plan.push_back({&implementation, entry.shape, type, implementation.default_block});
          continue;
        }
        for (const BlockShape& block : blocks) {
          plan.push_back({&implementation, entry.shape, type, Block{block.x, block.y}});
        }
      }
    }
  }
  return plan;
}

}  // namespace stridewise
