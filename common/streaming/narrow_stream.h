// Streams whose kernels run on some of a GPU's multiprocessors: CUDA's green contexts.

#ifndef STRIDEWISE_COMMON_STREAMING_NARROW_STREAM_H_
#define STRIDEWISE_COMMON_STREAMING_NARROW_STREAM_H_

#include <array>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

class NarrowStream {
 public:
  // Makes two on the current device: one of this number of multiprocessors or the next one that the
  // GPU can set apart, 8 more on an H100 at most, and one of the others. Takes some milliseconds.
  // Unavailable where the driver or the GPU cannot, or has fewer multiprocessors.
  static absl::StatusOr<std::array<std::unique_ptr<NarrowStream>, 2>> Create(int multiprocessors);

  // Ends the stream. What is queued has ended before.
  virtual ~NarrowStream() = default;

  virtual cudaStream_t stream() const = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_NARROW_STREAM_H_
