// One configuration of any operation, for programs that treat transposes and products alike, and
// the plan of many.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_KERNEL_CONFIG_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_KERNEL_CONFIG_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "benchmarks/matmul/matmul_plan.h"
#include "benchmarks/transpose/transpose_plan.h"

namespace stridewise {

using KernelConfig = std::variant<TransposeConfig, MatMulConfig>;

const std::string& ImplementationName(const KernelConfig& config);

// Whether there is a kernel of which a profiler could tell: not on the host, not in the driver.
bool HasKernel(const KernelConfig& config);

// Whether the registry says that the host executor can run it.
bool RunsOnExecutor(const KernelConfig& config);

// Whether the program was built with what it needs to run on a GPU.
bool IsBuiltIn(const KernelConfig& config);

// Whether the result has no elements, so that nothing is launched.
bool IsEmpty(const KernelConfig& config);

// "512x512", "256x256x64".
std::string ShapeText(const KernelConfig& config);

// "tile_square, 512x512 float, blocks of 32x32".
std::string Title(const KernelConfig& config);

// The flags that make a plan of this configuration alone.
std::vector<std::string> PlanFlags(const KernelConfig& config);

// The texts of flags of the same names; empty ones were not given.
struct KernelPlanFlags {
  std::string operation;  // transpose, copies among them, or matmul.
  std::string kernels;
  std::string sizes;
  std::string shapes;
  std::string blocks;
  std::string types;
};

// All configurations; shapes and kernels in the order of MakeTransposePlan() and MakeMatMulPlan().
// `default_size` is that of a square where the flags give neither sizes nor shapes.
// InvalidArgument, in one line that names the flag.
absl::StatusOr<std::vector<KernelConfig>> MakeKernelPlan(const KernelPlanFlags& flags,
                                                         int64_t default_size);

// One line for each kernel that a profiler could watch: name and summary.
absl::StatusOr<std::string> KernelListText(absl::string_view operation);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_KERNEL_CONFIG_H_
