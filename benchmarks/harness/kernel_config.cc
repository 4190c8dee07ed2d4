#include "benchmarks/harness/kernel_config.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"

namespace stridewise {
namespace {

// A copy without a block is the driver's; a transpose without one chooses its own, or is cuBLAS's.
bool IsKernel(const TransposeImplementation& implementation) {
  return implementation.target.where == Where::kDevice &&
         (implementation.default_block.x > 0 ||
          implementation.operation != TransposeOperation::kCopy);
}

bool IsKernel(const MatMulImplementation& implementation) {
  return implementation.target.where == Where::kDevice;
}

std::string Text(const Shape2& shape) { return absl::StrCat(shape.rows, "x", shape.cols); }
std::string Text(const Shape3& shape) { return absl::StrCat(shape.m, "x", shape.n, "x", shape.k); }

absl::string_view Text(const DataType& type) { return type.name; }
absl::string_view Text(ElementType type) { return ElementTypeName(type); }

// Calls fn with the configuration, whichever it is.
template <typename Fn>
auto Visit(const KernelConfig& config, Fn fn) {
  return std::visit(fn, config);
}

absl::Status CheckOperation(absl::string_view operation) {
  if (operation == "transpose" || operation == "matmul") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--operation: '", operation, "' is not allowed; allowed is transpose or matmul"));
}

template <typename Config>
std::vector<KernelConfig> ToKernelConfigs(const std::vector<Config>& plan) {
  return std::vector<KernelConfig>(plan.begin(), plan.end());
}

absl::StatusOr<std::vector<KernelConfig>> TransposeKernelPlan(const KernelPlanFlags& flags,
                                                              const std::string& size) {
  const TransposePreset preset = {"profile", "", {{"*", size}}};
  TransposePlanFlags plan_flags;
  plan_flags.sizes = flags.sizes;
  plan_flags.shapes = flags.shapes;
  plan_flags.kernels = flags.kernels;
  plan_flags.types = flags.types;
  plan_flags.blocks = flags.blocks;
  ASSIGN_OR_RETURN(const std::vector<TransposeConfig> plan, MakeTransposePlan(preset, plan_flags));
  return ToKernelConfigs(plan);
}

absl::StatusOr<std::vector<KernelConfig>> MatMulKernelPlan(const KernelPlanFlags& flags,
                                                           const std::string& size) {
  // Before the plan does: there the flag has another name.
  std::vector<std::string> names;
  for (const MatMulImplementation& i : MatMulImplementations()) names.push_back(i.name);
  RETURN_IF_ERROR(SelectByGlob("--kernels", flags.kernels, names).status());
  const MatMulPreset preset = {"profile", "", {{"*", size}}};
  MatMulPlanFlags plan_flags;
  plan_flags.sizes = flags.sizes;
  plan_flags.shapes = flags.shapes;
  plan_flags.implementations = flags.kernels;
  plan_flags.types = flags.types;
  plan_flags.blocks = flags.blocks;
  ASSIGN_OR_RETURN(const std::vector<MatMulConfig> plan, MakeMatMulPlan(preset, plan_flags));
  return ToKernelConfigs(plan);
}

template <typename Implementation>
std::string ListText(absl::Span<const Implementation> implementations) {
  std::string text;
  for (const Implementation& implementation : implementations) {
    if (!IsKernel(implementation)) continue;
    absl::StrAppendFormat(&text, "  %-28s %s\n", implementation.name, implementation.summary);
  }
  return text;
}

}  // namespace

const std::string& ImplementationName(const KernelConfig& config) {
  return *Visit(config, [](const auto& c) { return &c.implementation->name; });
}

bool HasKernel(const KernelConfig& config) {
  return Visit(config, [](const auto& c) { return IsKernel(*c.implementation); });
}

bool RunsOnExecutor(const KernelConfig& config) {
  return Visit(config, [](const auto& c) {
    return c.implementation->target.where == Where::kDevice &&
           c.implementation->executor == Executor::kHostExecutable;
  });
}

bool IsBuiltIn(const KernelConfig& config) {
  return Visit(config, [](const auto& c) { return c.implementation->run != nullptr; });
}

bool IsEmpty(const KernelConfig& config) {
  if (const auto* transpose = std::get_if<TransposeConfig>(&config)) {
    return transpose->shape.rows == 0 || transpose->shape.cols == 0;
  }
  const Shape3& shape = std::get<MatMulConfig>(config).shape;
  return shape.m == 0 || shape.n == 0;
}

std::string ShapeText(const KernelConfig& config) {
  return Visit(config, [](const auto& c) { return Text(c.shape); });
}

std::string Title(const KernelConfig& config) {
  return Visit(config, [](const auto& c) {
    const std::string block =
        c.block.x > 0 ? absl::StrCat(", blocks of ", c.block.x, "x", c.block.y) : "";
    return absl::StrCat(c.implementation->name, ", ", Text(c.shape), " ", Text(c.type), block);
  });
}

std::vector<std::string> PlanFlags(const KernelConfig& config) {
  const bool transpose = std::holds_alternative<TransposeConfig>(config);
  return Visit(config, [&](const auto& c) {
    std::vector<std::string> flags = {
        absl::StrCat("--operation=", transpose ? "transpose" : "matmul"),
        absl::StrCat("--kernels=", c.implementation->name),
        absl::StrCat("--shapes=", Text(c.shape)), absl::StrCat("--types=", Text(c.type))};
    if (c.implementation->blocks == Blocks::kAny) {
      flags.push_back(absl::StrCat("--blocks=", c.block.x, "x", c.block.y));
    }
    return flags;
  });
}

absl::StatusOr<std::vector<KernelConfig>> MakeKernelPlan(const KernelPlanFlags& flags,
                                                         int64_t default_size) {
  RETURN_IF_ERROR(CheckOperation(flags.operation));
  const std::string size = absl::StrCat(default_size);
  return flags.operation == "matmul" ? MatMulKernelPlan(flags, size)
                                     : TransposeKernelPlan(flags, size);
}

absl::StatusOr<std::string> KernelListText(absl::string_view operation) {
  RETURN_IF_ERROR(CheckOperation(operation));
  return operation == "matmul" ? ListText(MatMulImplementations())
                               : ListText(TransposeImplementations());
}

}  // namespace stridewise
