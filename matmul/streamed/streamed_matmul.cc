#include "matmul/streamed/streamed_matmul.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/device_scope.h"
#include "common/streaming/cuda_stream_queues.h"
#include "matmul/library_call.h"
#include "matmul/streamed/product_job.h"

namespace stridewise {
namespace {

// The kernels' workspace is 1 / kWorkspacePart of a budget.
constexpr int64_t kWorkspacePart = 16;

// A call that was checked.
struct Prepared {
  MatMulArgs args;
  std::vector<int> devices;
  int64_t budget = 0;
  MatMulStreamPlan plan;
};

absl::StatusOr<Prepared> Prepare(const MatMulProblem& problem, const StreamOptions& options) {
  Prepared call;
  ASSIGN_OR_RETURN(call.args, StreamedArgs(problem));
  RETURN_IF_ERROR(CheckStreamOptions(options));
  ASSIGN_OR_RETURN(call.devices, StreamDevices(options));
  ASSIGN_OR_RETURN(call.budget, StreamBudget(call.devices, options));
  StreamRates rates = RatesOf(options, {call.args.a.data, call.args.b.data, call.args.c.data});
  if (!options.rates.has_value()) rates.flops = ProductFlops(call.args);
  const StreamLimits limits = {call.budget - call.budget / kWorkspacePart,
                               static_cast<int64_t>(call.devices.size()), rates};
  const StreamedProduct shape = ShapeOf(call.args);
  if (options.checkpoint != nullptr && options.checkpoint->tile_rows > 0) {
    call.plan =
        PlanWithTiles(shape, limits, options.checkpoint->tile_rows, options.checkpoint->tile_cols);
  } else {
    ASSIGN_OR_RETURN(call.plan, PlanStreamedProduct(shape, limits));
  }
  return call;
}

// Returns what the products of the steps would like, of what the plan leaves. All steps but those
// of a device's first and last tile and the last of a row, a column or a sum have one shape.
int64_t WorkspaceBytes(const Prepared& call) {
  const ProductJob job(call.args, call.plan, 0, MatMul);
  DeviceScope scope;
  if (!scope.Enter(call.devices[0]).ok()) return 0;
  const int64_t left = std::max<int64_t>(0, call.budget - call.plan.device_bytes);
  return std::min(MatMulWorkspaceBytes(job.StepProduct({0, 0, job.slices_at_once()}, {}, {})),
                  left / 16 * 16);
}

}  // namespace

absl::StatusOr<MatMulStreamPlan> PlanStreamedMatMul(const MatMulProblem& problem,
                                                    const StreamOptions& options) {
  ASSIGN_OR_RETURN(const Prepared call, Prepare(problem, options));
  return call.plan;
}

absl::Status StreamedMatMul(const MatMulProblem& problem, const StreamOptions& options) {
  ASSIGN_OR_RETURN(const Prepared call, Prepare(problem, options));
  if (AutomaticMatMul().run == nullptr) return absl::UnavailableError(kWithoutDeviceCode);
  if (call.plan.steps == 0) return absl::OkStatus();
  const ProductJob job(call.args, call.plan, WorkspaceBytes(call), MatMul);
  return RunStreamJobOnGpus(job, call.devices, options);
}

}  // namespace stridewise
