#include "matmul/plan.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/gpu/argument_checks.h"
#include "common/gpu/device_scope.h"
#include "common/gpu/gpu_runtime.h"
#include "matmul/dispatch.h"
#include "matmul/library_call.h"
#include "matmul/measure_plan.h"
#include "matmul/plan_key.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

absl::Status CheckOptions(const MatMulPlanOptions& options) {
  RETURN_IF_ERROR(CheckAtLeast("max_workspace_bytes", options.max_workspace_bytes, 0));
  RETURN_IF_ERROR(CheckAtLeast("candidates", options.candidates, 1));
  RETURN_IF_ERROR(CheckAtLeast("samples", options.samples, 1));
  if (options.planning == MatMulPlanning::kMeasure && options.device_model != nullptr) {
    return absl::InvalidArgumentError(
        "device_model is given; allowed is none where plans are measured");
  }
  return absl::OkStatus();
}

}  // namespace

const std::string& MatMulPlan::kernel() const { return row_->entry->name; }
const MatMulImplementation& MatMulPlan::implementation() const { return *row_->entry; }

absl::StatusOr<MatMulPlan> PlanMatMul(const MatMulProblem& problem,
                                      const MatMulPlanOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  MatMulArgs args;
  RETURN_IF_ERROR(PrepareMatMul(WithPointers(problem), options.stream, &args));
  DeviceScope scope;
  const DeviceModel* device = options.device_model;
  if (device == nullptr) {
    RETURN_IF_ERROR(scope.Enter(problem.device));
    ASSIGN_OR_RETURN(device, gpu::CurrentModel());
  }
  args.device_model = device;
  args.workspace_bytes = options.max_workspace_bytes;
  MatMulPlan plan;
  plan.key_ = KeyOf(args, *device);
  bool uses_workspace = true;
  const bool is_empty = args.m == 0 || args.n == 0 || args.batch == 0;
  // Only of FP32 there are several to measure.
  const bool one_kernel =
      args.a.type != ElementType::kFloat || args.precision != MatMulPrecision::kFp32;
  if (options.planning == MatMulPlanning::kEstimate || is_empty || one_kernel) {
    const MatMulPrediction best = PredictMatMul(args, *device);
    plan.row_ = best.row;
    plan.us_ = best.us;
    uses_workspace = best.uses_workspace;
  } else {
    std::vector<MatMulPrediction> predictions =
        ChooserFor(*device).PredictAll(args, *device, RunsOn::kDevice);
    std::stable_sort(
        predictions.begin(), predictions.end(),
        [](const MatMulPrediction& x, const MatMulPrediction& y) { return x.us < y.us; });
    if (predictions.size() > static_cast<size_t>(options.candidates)) {
      predictions.resize(static_cast<size_t>(options.candidates));
    }
    std::vector<const MatMulImplementation*> candidates;
    for (const MatMulPrediction& prediction : predictions) {
      candidates.push_back(prediction.row->entry);
    }
    ASSIGN_OR_RETURN(const MeasuredMatMul best, FastestMatMul(args, candidates, options.samples));
    plan.row_ = predictions[best.number].row;
    plan.us_ = best.us;
    plan.is_measured_ = true;
  }
  plan.workspace_bytes_ =
      is_empty || !uses_workspace
          ? 0
          : std::min(MatMulWorkspaceBytes(*plan.row_->entry, args), options.max_workspace_bytes);
  return plan;
}

absl::Status MatMul(const MatMulPlan& plan, const MatMulProblem& problem, cudaStream_t stream) {
  MatMulArgs args;
  RETURN_IF_ERROR(PrepareMatMul(problem, stream, &args));
  if (args.m == 0 || args.n == 0 || args.batch == 0) return absl::OkStatus();
  DeviceScope scope;
  RETURN_IF_ERROR(scope.Enter(problem.device));
  ASSIGN_OR_RETURN(args.device_model, gpu::CurrentModel());
  const MatMulPlanKey key = KeyOf(args, *args.device_model);
  if (!(key == plan.key()) && !(ForAnyRate(key) == plan.key())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the plan is of ", absl::StrJoin(plan.key().numbers, " "), ", the problem of ",
        absl::StrJoin(key.numbers, " "),
        " (compute capability, multiprocessors, GB/s, m, n, k, batch, lda, ldb, ldc, form: see "
        "MatMulPlanKey); allowed is the same"));
  }
  // What a text said may be wrong.
  if (!TakesCall(*plan.row_, args, *args.device_model, RunsOn::kDevice)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the plan's kernel, ", plan.kernel(), ", does not take the call"));
  }
  if (plan.workspace_bytes_ == 0) args.workspace_bytes = 0;  // It is slower with one.
  return RunChosenEntry(*plan.row_->entry, args);
}

}  // namespace stridewise
