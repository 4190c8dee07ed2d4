#include "matmul/matmul.h"

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"
#include "matmul/check_args.h"
#include "matmul/library_call.h"
#include "matmul/registry.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

// What a column-major caller calls the arguments of RowMajorArgs().
constexpr MatMulArgumentNames kColumnMajorNames = {"n",        "m", "b",   "ldb",
                                                   "stride_b", "a", "lda", "stride_a"};
constexpr MatMulArgumentNames kRowMajorNames = {};

// Returns the current device's model, so that the call asks for it once; null where there is no
// device, which matters only where there are elements.
const DeviceModel* ModelOrNull() {
  const absl::StatusOr<const DeviceModel*> model = gpu::CurrentModel();
  return model.ok() ? *model : nullptr;
}

}  // namespace

const MatMulImplementation& AutomaticMatMul() {
  static const MatMulImplementation& automatic = *FindMatMulImplementation("auto");
  return automatic;
}

const MatMulArgumentNames& ArgumentNamesOf(const MatMulProblem& problem) {
  return problem.layout == MatrixLayout::kColumnMajor ? kColumnMajorNames : kRowMajorNames;
}

absl::Status PrepareMatMul(const MatMulProblem& problem, cudaStream_t stream, MatMulArgs* args) {
  const MatMulImplementation& automatic = AutomaticMatMul();
  *args = RowMajorArgs(problem);
  args->stream = stream;
  args->block = automatic.default_block;
  if (problem.scales.per_128 && problem.layout == MatrixLayout::kColumnMajor) {
    return absl::InvalidArgumentError(
        "scales.per_128 is true; allowed is false beside column-major matrices");
  }
  // Not RunMatMul(), whose messages name an implementation that the caller did not ask for.
  RETURN_IF_ERROR(CheckMatMulArgs(automatic, *args, ArgumentNamesOf(problem)));
  if (automatic.run == nullptr) return absl::UnavailableError(kWithoutDeviceCode);
  return absl::OkStatus();
}

absl::Status MatMul(const MatMulProblem& problem, cudaStream_t stream) {
  MatMulArgs args;
  RETURN_IF_ERROR(PrepareMatMul(problem, stream, &args));
  DeviceScope scope;
  RETURN_IF_ERROR(scope.Enter(problem.device));
  args.device_model = ModelOrNull();
  return AutomaticMatMul().run(args);
}

int64_t MatMulWorkspaceBytes(const MatMulProblem& problem) {
  MatMulArgs args = RowMajorArgs(problem);
  args.a.data = args.b.data = args.c.data = nullptr;  // As if they were aligned.
  DeviceScope scope;
  if (!scope.Enter(problem.device).ok()) return 0;
  args.device_model = ModelOrNull();
  return MatMulWorkspaceBytes(AutomaticMatMul(), args);
}

}  // namespace stridewise
