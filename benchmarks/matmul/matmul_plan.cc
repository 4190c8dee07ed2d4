#include "benchmarks/matmul/matmul_plan.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/status_macros.h"
#include "common/verify/fill.h"

namespace stridewise {
namespace {

constexpr int64_t kMaxRandomExtent = 1024;

// What one shape in one form is measured with: indices into the registry.
struct ProblemWork {
  Shape3 shape;
  MatMulForm form;
  std::set<size_t> implementations;
};

std::vector<std::string> ImplementationNames() {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    names.push_back(implementation.name);
  }
  return names;
}

std::vector<Shape3> RandomShapes(int64_t count, uint64_t seed) {
  std::vector<Shape3> shapes;
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

absl::StatusOr<std::vector<Shape3>> StepShapes(const MatMulPresetStep& step, uint64_t seed) {
  std::vector<Shape3> shapes = RandomShapes(step.random_shapes, seed);
  if (!step.sizes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ParseSizes("--sizes", step.sizes));
    for (const int64_t size : sizes) {
      if (size <= step.max_size) shapes.push_back({size, size, size});
    }
  }
  if (!step.shapes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<Shape3> more, ParseShapes("--shapes", step.shapes));
    shapes.insert(shapes.end(), more.begin(), more.end());
  }
  return shapes;
}

absl::Status CheckBatch(const Shape3& shape, int64_t batch) {
  const int64_t most = std::max({shape.m * shape.n, shape.m * shape.k, shape.k * shape.n});
  if (batch == 1 || most <= kMaxElements / batch) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--batch: ", batch, " products of ", shape.m, "x", shape.n, "x", shape.k,
                   " are not allowed; allowed are at most ", kMaxElements, " elements"));
}

auto ShapeKey(const Shape3& s) { return std::tuple(s.m, s.n, s.k); }

auto FormKey(const MatMulForm& f) {
  return std::tuple(LayoutName(f.layout), f.alpha, f.beta, f.batch);
}

// Adds the problem to the list, behind others of the same shape, or the implementations to the
// problem that is there.
void Add(const ProblemWork& problem, std::vector<ProblemWork>* work) {
  auto behind = work->end();
  for (auto it = work->begin(); it != work->end(); ++it) {
    if (ShapeKey(it->shape) != ShapeKey(problem.shape)) continue;
    if (FormKey(it->form) == FormKey(problem.form)) {
      it->implementations.insert(problem.implementations.begin(), problem.implementations.end());
      return;
    }
    behind = it + 1;
  }
  work->insert(behind, problem);
}

absl::Status AddStep(const MatMulPresetStep& step, uint64_t seed, std::vector<ProblemWork>* work) {
  ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                   SelectByGlob("--implementations", step.implementations, ImplementationNames()));
  ASSIGN_OR_RETURN(const std::vector<MatMulLayout> layouts,
                   ParseLayouts("--layouts", step.layouts));
  ASSIGN_OR_RETURN(const std::vector<Shape3> shapes, StepShapes(step, seed));
  for (const Shape3& shape : shapes) {
    RETURN_IF_ERROR(CheckBatch(shape, step.batch));
    for (const MatMulLayout& layout : layouts) {
      ProblemWork problem = {shape, {layout, step.alpha, step.beta, step.batch}, {}};
      for (const size_t index : selected) {
        if (IsPlain(problem.form) || MatMulImplementations()[index].general) {
          problem.implementations.insert(index);
        }
      }
      Add(problem, work);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MatMulPresetStep>> StepsFor(const MatMulPreset& preset,
                                                       const MatMulPlanFlags& flags) {
  std::vector<MatMulPresetStep> steps = preset.steps;
  if (!flags.sizes.empty() || !flags.shapes.empty()) {
    steps = {{"*", flags.sizes, kMaxSize, flags.shapes}};
  }
  for (MatMulPresetStep& step : steps) {
    if (!flags.layouts.empty()) step.layouts = flags.layouts;
    if (!flags.alpha.empty()) {
      ASSIGN_OR_RETURN(step.alpha, ParseFactor("--alpha", flags.alpha));
    }
    if (!flags.beta.empty()) {
      ASSIGN_OR_RETURN(step.beta, ParseFactor("--beta", flags.beta));
    }
    if (!flags.batch.empty()) {
      ASSIGN_OR_RETURN(step.batch, ParseBatch("--batch", flags.batch));
    }
  }
  return steps;
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

// The blocks with which an implementation is measured.
std::vector<Block> BlocksFor(const MatMulImplementation& implementation,
                             const std::vector<BlockShape>& wanted) {
  if (wanted.empty() || implementation.blocks == Blocks::kFixed) {
    return {implementation.default_block};
  }
  std::vector<Block> blocks;
  for (const BlockShape& block : wanted) blocks.push_back({block.x, block.y});
  return blocks;
}

}  // namespace

absl::StatusOr<std::vector<MatMulConfig>> MakeMatMulPlan(const MatMulPreset& preset,
                                                         const MatMulPlanFlags& flags) {
  ASSIGN_OR_RETURN(const std::vector<MatMulPresetStep> steps, StepsFor(preset, flags));
  std::vector<ProblemWork> work;
  for (const MatMulPresetStep& step : steps) RETURN_IF_ERROR(AddStep(step, flags.seed, &work));
  // Those of a preset from small to large; flags say their own order.
  if (flags.sizes.empty() && flags.shapes.empty()) {
    std::stable_sort(work.begin(), work.end(), [](const ProblemWork& a, const ProblemWork& b) {
      return MatMulFlops(a.shape.m, a.shape.n, a.shape.k) <
             MatMulFlops(b.shape.m, b.shape.n, b.shape.k);
    });
  }
  ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                   SelectByGlob("--implementations", flags.implementations, ImplementationNames()));
  ASSIGN_OR_RETURN(const std::vector<ElementType> types, ParseTypes(flags.types));
  std::vector<BlockShape> blocks;
  if (!flags.blocks.empty()) {
    ASSIGN_OR_RETURN(blocks, ParseBlocks("--blocks", flags.blocks));
  }

  std::vector<MatMulConfig> plan;
  for (const ProblemWork& problem : work) {
    for (const ElementType type : types) {
      for (const size_t index : problem.implementations) {
        if (!std::binary_search(selected.begin(), selected.end(), index)) continue;
        const MatMulImplementation& implementation = MatMulImplementations()[index];
        for (const Block& block : BlocksFor(implementation, blocks)) {
          plan.push_back({&implementation, problem.shape, type, block, problem.form});
        }
      }
    }
  }
  if (plan.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--implementations: '", flags.implementations, "' selects nothing of the preset ",
        preset.name, " that takes what is asked for; give --sizes or --shapes with it"));
  }
  return plan;
}

}  // namespace stridewise
