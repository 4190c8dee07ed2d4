// A product as a job of streamed tiles.

#ifndef STRIDEWISE_MATMUL_STREAMED_PRODUCT_JOB_H_
#define STRIDEWISE_MATMUL_STREAMED_PRODUCT_JOB_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/streaming/stream_job.h"
#include "matmul/args.h"
#include "matmul/matmul.h"
#include "matmul/streamed/stream_layout.h"
#include "matmul/streamed/stream_plan.h"

namespace stridewise {

// Queues a row-major product of what is in the device's memory: MatMul().
using DeviceProduct = std::function<absl::Status(const MatMulProblem&, cudaStream_t)>;

// Returns the row-major arguments of a problem in host memory, or what StreamedMatMul() returns for
// one that it does not take.
absl::StatusOr<MatMulArgs> StreamedArgs(const MatMulProblem& problem);

StreamedProduct ShapeOf(const MatMulArgs& args);

// Returns the FLOP/s of a large product of these types and this precision in an H200's own memory,
// for plans where the caller names no rates.
double ProductFlops(const MatMulArgs& args);

class ProductJob : public StreamJob {
 public:
  // The matrices are borrowed. `workspace_bytes` may be 0. REQUIRES: `args` is of StreamedArgs(),
  // the plan is for its shape.
  ProductJob(const MatMulArgs& args, const MatMulStreamPlan& plan, int64_t workspace_bytes,
             DeviceProduct product);

  int64_t slices() const override;
  int64_t slices_at_once() const override { return plan_.depth / plan_.slice; }
  int64_t bands() const override { return plan_.bands; }
  StreamCheckpoint first_checkpoint() const override;
  int64_t input_bytes() const override { return layout_.input_bytes(); }
  int64_t output_bytes() const override { return layout_.output_bytes(); }
  int64_t workspace_bytes() const override { return workspace_bytes_; }
  std::vector<BlockCopy> Loads(const StreamStep& step, void* input) const override;
  std::vector<BlockCopy> OutputLoads(int64_t tile, void* output) const override;
  absl::Status Compute(const StreamStep& step, const StreamBand& band, const StreamBuffers& buffers,
                       cudaStream_t stream) const override;
  BlockCopy Store(int64_t tile, const StreamBand& band, const void* output) const override;

  // Returns the product of a step: what Compute() queues.
  MatMulProblem StepProduct(const StreamStep& step, const StreamBand& band,
                            const StreamBuffers& buffers) const;

 private:
  // The part of m, n and k that a step works on.
  struct Part {
    int64_t row, rows, col, cols, first, depth;
  };
  Part PartOf(const StreamStep& step) const;

  // The rows of a band, for a tile of `rows` rows.
  struct Rows {
    int64_t first, count;
  };
  static Rows RowsOf(const StreamBand& band, int64_t rows);

  MatMulArgs args_;
  MatMulStreamPlan plan_;
  StreamLayout layout_;
  int64_t workspace_bytes_;
  DeviceProduct product_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_STREAMED_PRODUCT_JOB_H_
