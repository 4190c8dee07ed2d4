// The queues of a streamed operation on a GPU.

#ifndef STRIDEWISE_COMMON_STREAMING_CUDA_STREAM_QUEUES_H_
#define STRIDEWISE_COMMON_STREAMING_CUDA_STREAM_QUEUES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/streaming/stream_job.h"
#include "common/streaming/stream_options.h"
#include "common/streaming/stream_queues.h"

namespace stridewise {

// Three streams of the device. Copies of pinned host memory overlap with everything; those of
// pageable memory go through the driver's own buffers, at a part of the rate, and may keep the host
// until they are done. Where the driver can divide the multiprocessors, kernels on kCompute run on
// `compute_multiprocessors` of them, or a few more, and those on kIn on the others; where it
// cannot, or the number is 0, both run on all. Returns InvalidArgument for a device that is not
// there, Unavailable where there is none.
absl::StatusOr<std::unique_ptr<StreamQueues>> OpenCudaStreamQueues(int device,
                                                                   int compute_multiprocessors = 0);

// Returns the devices of the options: the current one where they name none. InvalidArgument, naming
// it, for one that is not there or is named twice.
absl::StatusOr<std::vector<int>> StreamDevices(const StreamOptions& options);

// Returns InvalidArgument, naming it, for a number of the options that is not allowed.
absl::Status CheckStreamOptions(const StreamOptions& options);

// Returns options.rates or, where there are none, those of the slowest of these host matrices, each
// judged by its first element.
StreamRates RatesOf(const StreamOptions& options, absl::Span<const void* const> matrices);

// Returns the bytes that may be allocated on each of the devices: options.device_bytes or, where
// that is 0, 90 % of what is free on the fullest of them.
absl::StatusOr<int64_t> StreamBudget(const std::vector<int>& devices, const StreamOptions& options);

// Runs the job on these devices.
absl::Status RunStreamJobOnGpus(const StreamJob& job, const std::vector<int>& devices,
                                const StreamOptions& options);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_CUDA_STREAM_QUEUES_H_
