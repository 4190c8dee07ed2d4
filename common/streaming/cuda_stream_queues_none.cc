// cuda_stream_queues.h in a build without a CUDA toolkit.

#include "common/streaming/cuda_stream_queues.h"

namespace stridewise {
namespace {

absl::Status NoCuda() { return absl::UnavailableError("built without a CUDA toolkit"); }

}  // namespace

absl::StatusOr<std::unique_ptr<StreamQueues>> OpenCudaStreamQueues(int, int) { return NoCuda(); }
absl::StatusOr<std::vector<int>> StreamDevices(const StreamOptions&) { return NoCuda(); }
absl::Status CheckStreamOptions(const StreamOptions&) { return NoCuda(); }
StreamRates RatesOf(const StreamOptions&, absl::Span<const void* const>) { return {}; }
absl::StatusOr<int64_t> StreamBudget(const std::vector<int>&, const StreamOptions&) {
  return NoCuda();
}
absl::Status RunStreamJobOnGpus(const StreamJob&, const std::vector<int>&, const StreamOptions&) {
  return NoCuda();
}

}  // namespace stridewise
