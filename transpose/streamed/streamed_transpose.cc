#include "transpose/streamed/streamed_transpose.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/streaming/cuda_stream_queues.h"

namespace stridewise {
namespace {

absl::StatusOr<TransposeStreamPlan> Plan(const MatrixView& in, const MutableMatrixView& out,
                                         const StreamOptions& options, std::vector<int>* devices) {
  RETURN_IF_ERROR(CheckStreamedTranspose(in, out));
  RETURN_IF_ERROR(CheckStreamOptions(options));
  ASSIGN_OR_RETURN(*devices, StreamDevices(options));
  const StreamRates rates = RatesOf(options, {in.data, out.data});
  const auto count = static_cast<int64_t>(devices->size());
  if (options.checkpoint != nullptr && options.checkpoint->tile_rows > 0) {
    return PlanTransposeWithTiles(in, count, rates, options.checkpoint->tile_rows,
                                  options.checkpoint->tile_cols);
  }
  ASSIGN_OR_RETURN(const int64_t budget, StreamBudget(*devices, options));
  return PlanTranspose(in, budget, count, rates);
}

}  // namespace

absl::StatusOr<TransposeStreamPlan> PlanStreamedTranspose(const MatrixView& in,
                                                          const MutableMatrixView& out,
                                                          const StreamOptions& options) {
  std::vector<int> devices;
  return Plan(in, out, options, &devices);
}

absl::Status StreamedTranspose(const MatrixView& in, const MutableMatrixView& out,
                               const StreamOptions& options) {
  std::vector<int> devices;
  ASSIGN_OR_RETURN(const TransposeStreamPlan plan, Plan(in, out, options, &devices));
  if (plan.tiles_down == 0) return absl::OkStatus();
  const DeviceTranspose transpose = [](const MatrixView& from, const MutableMatrixView& to,
                                       cudaStream_t stream) { return Transpose(from, to, stream); };
  return RunStreamJobOnGpus(TransposeJob(in, out, plan, transpose), devices, options);
}

}  // namespace stridewise
