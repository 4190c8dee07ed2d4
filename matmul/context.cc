#include "matmul/context.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_scope.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/stream_workspace.h"
#include "matmul/dispatch.h"
#include "matmul/library_call.h"
#include "matmul/plan.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

// A megabyte. A program that calls products of more shapes chooses anew for the others.
constexpr size_t kMostPlans = 4096;

}  // namespace

struct MatMulContext::State {
  State(cudaStream_t stream_of_calls, int its_device, const DeviceModel* its_model)
      : stream(stream_of_calls),
        device(its_device),
        model(its_model),
        workspace(std::in_place, stream) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    DeviceScope scope;  // The null stream is that of the current device.
    (void)scope.Enter(device);
    workspace.reset();
  }

  const cudaStream_t stream;
  const int device;
  const DeviceModel* const model;
  std::optional<StreamWorkspace> workspace;
  MatMulPlans plans;  // Of the calls so far, at most kMostPlans.
};

MatMulContext::MatMulContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
MatMulContext::MatMulContext(MatMulContext&& other) noexcept = default;
MatMulContext& MatMulContext::operator=(MatMulContext&& other) noexcept = default;
MatMulContext::~MatMulContext() = default;

absl::StatusOr<MatMulContext> MatMulContext::Create(cudaStream_t stream, int device) {
  DeviceScope scope;
  RETURN_IF_ERROR(scope.Enter(device));
  ASSIGN_OR_RETURN(const DeviceModel* model, gpu::CurrentModel());
  ASSIGN_OR_RETURN(const int current, gpu::CurrentDevice());
  return MatMulContext(std::make_unique<State>(stream, current, model));
}

absl::Status MatMulContext::Reserve(int64_t bytes) {
  if (bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat("bytes is ", bytes, "; allowed is 0 or more"));
  }
  DeviceScope scope;
  RETURN_IF_ERROR(scope.Enter(state_->device));
  return state_->workspace->Reserve(bytes);
}

int64_t MatMulContext::allocated_bytes() const { return state_->workspace->allocated_bytes(); }
cudaStream_t MatMulContext::stream() const { return state_->stream; }
int MatMulContext::device() const { return state_->device; }

absl::Status MatMul(MatMulContext& context, const MatMulProblem& problem) {
  MatMulContext::State& state = *context.state_;
  if (problem.workspace != nullptr || problem.workspace_bytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat("workspace is given, of ",
                                                   problem.workspace_bytes,
                                                   " bytes; allowed is none: the context has one"));
  }
  if (problem.device != kCurrentDevice && problem.device != state.device) {
    return absl::InvalidArgumentError(absl::StrCat("device is ", problem.device, "; allowed is ",
                                                   state.device, ", the context's, or ",
                                                   kCurrentDevice));
  }
  MatMulArgs args;
  RETURN_IF_ERROR(PrepareMatMul(problem, state.stream, &args));
  DeviceScope scope;
  RETURN_IF_ERROR(scope.Enter(state.device));
  args.device_model = state.model;
  if (args.m == 0 || args.n == 0 || args.batch == 0) return absl::OkStatus();
  // A plan serves the workspace and the call, and all calls like it.
  MatMulPlanOptions options;
  options.device_model = state.model;
  std::optional<MatMulPlan> plan = state.plans.Find(problem, options);
  if (!plan.has_value()) {
    ASSIGN_OR_RETURN(plan, PlanMatMul(problem, options));
    if (state.plans.size() < kMostPlans) state.plans.Add(*plan);
  }
  const MatMulImplementation& chosen = plan->implementation();
  const int64_t bytes = plan->workspace_bytes();
  if (bytes == 0) return RunChosenEntry(chosen, args);
  return state.workspace->Use(bytes, [&](void* workspace) -> absl::Status {
    args.workspace = workspace;
    args.workspace_bytes = bytes;
    return RunChosenEntry(chosen, args);
  });
}

}  // namespace stridewise
