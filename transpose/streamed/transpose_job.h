// A transpose as a job of streamed tiles.

#ifndef STRIDEWISE_TRANSPOSE_STREAMED_TRANSPOSE_JOB_H_
#define STRIDEWISE_TRANSPOSE_STREAMED_TRANSPOSE_JOB_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/streaming/stream_job.h"
#include "transpose/transpose.h"

namespace stridewise {

// `in` is cut into tiles of tile_rows x tile_cols. A device holds two of them and two transposed.
struct TransposeStreamPlan {
  int64_t tile_rows = 0;
  int64_t tile_cols = 0;
  int64_t tiles_down = 0;
  int64_t tiles_across = 0;
  int64_t device_bytes = 0;  // What each device holds.
  double bytes = 0;          // In, and the same out.
  double seconds = 0;        // What the rates make of it: the slower way, and a tile at each end.
};

// Queues a transpose of what is in the device's memory: Transpose().
using DeviceTranspose =
    std::function<absl::Status(const MatrixView&, const MutableMatrixView&, cudaStream_t)>;

// Returns OK for what StreamedTranspose() takes, and else what it returns.
absl::Status CheckStreamedTranspose(const MatrixView& in, const MutableMatrixView& out);

// Returns tiles that fit `device_bytes` on each device and have rows, both ways, that are long
// enough for the copies' full rate. Without elements there are no tiles.
// ResourceExhausted, naming device_bytes, where no tile fits.
absl::StatusOr<TransposeStreamPlan> PlanTranspose(const MatrixView& in, int64_t device_bytes,
                                                  int64_t devices, const StreamRates& rates);

// Returns the plan with these tiles, which need not fit.
TransposeStreamPlan PlanTransposeWithTiles(const MatrixView& in, int64_t devices,
                                           const StreamRates& rates, int64_t tile_rows,
                                           int64_t tile_cols);

class TransposeJob : public StreamJob {
 public:
  // The matrices are borrowed. REQUIRES: CheckStreamedTranspose(), and the plan is for them.
  TransposeJob(const MatrixView& in, const MutableMatrixView& out, const TransposeStreamPlan& plan,
               DeviceTranspose transpose);

  int64_t slices() const override { return 1; }
  StreamCheckpoint first_checkpoint() const override;
  int64_t input_bytes() const override;
  int64_t output_bytes() const override;
  std::vector<BlockCopy> Loads(const StreamStep& step, void* input) const override;
  absl::Status Compute(const StreamStep& step, const StreamBand& band, const StreamBuffers& buffers,
                       cudaStream_t stream) const override;
  BlockCopy Store(int64_t tile, const StreamBand& band, const void* output) const override;

 private:
  // The part of `in` that is a tile.
  struct Part {
    int64_t row, rows, col, cols;
  };
  Part PartOf(int64_t tile) const;

  MatrixView in_;
  MutableMatrixView out_;
  TransposeStreamPlan plan_;
  DeviceTranspose transpose_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_STREAMED_TRANSPOSE_JOB_H_
