// An operation whose result is computed tile by tile, each in one or more steps, by devices that
// hold only the tiles and panels at hand.

#ifndef STRIDEWISE_COMMON_STREAMING_STREAM_JOB_H_
#define STRIDEWISE_COMMON_STREAMING_STREAM_JOB_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/gpu/cuda_handles.h"
#include "common/streaming/stream_options.h"
#include "common/streaming/stream_queues.h"

namespace stridewise {

// Device memory of one step.
struct StreamBuffers {
  void* input = nullptr;      // What Loads() of the step filled.
  void* output = nullptr;     // The tile: the same for all of its steps.
  void* workspace = nullptr;  // Keeps nothing from one step to the next.
};

class StreamJob {
 public:
  virtual ~StreamJob() = default;

  virtual int64_t steps() const = 0;  // Of each tile; at least 1.

  // Returns the tiles, none of them done.
  virtual StreamCheckpoint first_checkpoint() const = 0;

  // Bytes of one input buffer, one output buffer and the workspace. A device holds two inputs, two
  // outputs and one workspace.
  virtual int64_t input_bytes() const = 0;
  virtual int64_t output_bytes() const = 0;
  virtual int64_t workspace_bytes() const { return 0; }

  // Returns what is copied from the host into the input buffer for a step, and into the output
  // buffer before the first step.
  virtual std::vector<BlockCopy> Loads(int64_t tile, int64_t step, void* input) const = 0;
  virtual std::vector<BlockCopy> OutputLoads(int64_t /*tile*/, void* /*output*/) const {
    return {};
  }

  // Queues the step on the stream.
  virtual absl::Status Compute(int64_t tile, int64_t step, const StreamBuffers& buffers,
                               cudaStream_t stream) const = 0;

  // Returns how the finished tile is copied to the host.
  virtual BlockCopy Store(int64_t tile, const void* output) const = 0;
};

// Computes all tiles of the job that options.checkpoint does not call done, a thread for each
// device. A device takes the next tile when the loads of its last one are queued: while it computes
// a step, the next step's input is copied in and the last tile out. Looks at progress, cancel and
// checkpoint of the options only.
//
// Returns Cancelled where options.cancel came before the end, InvalidArgument for a checkpoint of
// other tiles, ResourceExhausted where the buffers do not fit a device, and the first error of a
// device. All work is done when it returns. After Cancelled, tiles that are not done are untouched
// in host memory; after another error they may be partly written.
absl::Status RunStreamJob(const StreamJob& job, absl::Span<StreamQueues* const> devices,
                          const StreamOptions& options);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_STREAM_JOB_H_
