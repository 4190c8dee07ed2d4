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

// What a device does at once: some slices of the sum that is a tile.
struct StreamStep {
  int64_t tile = 0;
  int64_t first = 0;  // Slice.
  int64_t slices = 1;
};

// Band `index` of the `bands` bands of a tile.
struct StreamBand {
  int64_t index = 0;
  int64_t bands = 1;
};

// Device memory of one step.
struct StreamBuffers {
  void* input = nullptr;      // What Loads() of the step filled.
  void* output = nullptr;     // The tile: the same for all of its steps.
  void* workspace = nullptr;  // Keeps nothing from one step to the next.
};

class StreamJob {
 public:
  virtual ~StreamJob() = default;

  // Slices of each tile, at least 1, and how many of them a step has that an input buffer is made
  // for. A device's first steps have fewer.
  virtual int64_t slices() const = 0;
  virtual int64_t slices_at_once() const { return 1; }

  // Into how many bands a tile may be cut that are computed and stored one after the other.
  virtual int64_t bands() const { return 1; }

  // Returns the tiles, none of them done.
  virtual StreamCheckpoint first_checkpoint() const = 0;

  // Bytes of one input buffer, one output buffer and the workspace. A device holds two inputs, two
  // outputs and one workspace.
  virtual int64_t input_bytes() const = 0;
  virtual int64_t output_bytes() const = 0;
  virtual int64_t workspace_bytes() const { return 0; }

  // Returns what is copied from the host into the input buffer for a step, and into the output
  // buffer before the first step.
  virtual std::vector<BlockCopy> Loads(const StreamStep& step, void* input) const = 0;
  virtual std::vector<BlockCopy> OutputLoads(int64_t /*tile*/, void* /*output*/) const {
    return {};
  }

  // Queues the step on the stream, for a band of the tile.
  virtual absl::Status Compute(const StreamStep& step, const StreamBand& band,
                               const StreamBuffers& buffers, cudaStream_t stream) const = 0;

  // Returns how the finished band of a tile is copied to the host; no rows where it is empty.
  virtual BlockCopy Store(int64_t tile, const StreamBand& band, const void* output) const = 0;
};

// Computes all tiles of the job that options.checkpoint does not call done, a thread for each
// device. A device takes the next tile when it begins the last step of the one before: while it
// computes a step, the next step's input is copied in and the last tile out. Nothing hides its
// first load and its last store: it begins with one slice, and doubles with each step up to
// slices_at_once(); and the last step of its last tile goes band by band, each of which is stored
// while the next is computed. Looks at progress, cancel and checkpoint of the options only.
//
// Returns Cancelled where options.cancel came before the end, InvalidArgument for a checkpoint of
// other tiles, ResourceExhausted where the buffers do not fit a device, and the first error of a
// device. All work is done when it returns. After Cancelled, tiles that are not done are untouched
// in host memory; after another error they may be partly written.
absl::Status RunStreamJob(const StreamJob& job, absl::Span<StreamQueues* const> devices,
                          const StreamOptions& options);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_STREAMING_STREAM_JOB_H_
