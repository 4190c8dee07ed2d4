#include "transpose/streamed/transpose_job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "transpose/check_args.h"
#include "transpose/registry.h"
#include "transpose/view_args.h"

namespace stridewise {
namespace {

// The longest rows of a tile. Longer ones copy no faster, and larger tiles take longer before the
// first and behind the last copy.
constexpr int64_t kRowBytes = 32 << 10;

int64_t Quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns the leading dimension of a tile on the device, in elements: rows begin at multiples of 16
// bytes.
int64_t Ld(int64_t cols, int64_t element_bytes) {
  return Quotient(cols * element_bytes, 16) * 16 / element_bytes;
}

int64_t BufferBytes(int64_t rows, int64_t cols, int64_t element_bytes) {
  return Quotient(rows * Ld(cols, element_bytes) * element_bytes, 256) * 256;
}

}  // namespace

absl::Status CheckStreamedTranspose(const MatrixView& in, const MutableMatrixView& out) {
  static const TransposeImplementation& automatic = *FindByName(TransposeLibrary(), "auto");
  TransposeArgs args;
  RETURN_IF_ERROR(ArgsOfViews(in, out, &args));
  args.block = automatic.default_block;
  RETURN_IF_ERROR(CheckTransposeArgs(automatic, args, kViewNames));
  return CheckEqual("in.batch", in.batch, "of a streamed transpose", 1);
}

TransposeStreamPlan PlanTransposeWithTiles(const MatrixView& in, int64_t devices,
                                           const StreamRates& rates, int64_t tile_rows,
                                           int64_t tile_cols) {
  TransposeStreamPlan plan;
  if (in.rows == 0 || in.cols == 0) return plan;
  plan.tile_rows = std::min(tile_rows, in.rows);
  plan.tile_cols = std::min(tile_cols, in.cols);
  plan.tiles_down = Quotient(in.rows, plan.tile_rows);
  plan.tiles_across = Quotient(in.cols, plan.tile_cols);
  plan.device_bytes = 2 * (BufferBytes(plan.tile_rows, plan.tile_cols, in.element_bytes) +
                           BufferBytes(plan.tile_cols, plan.tile_rows, in.element_bytes));
  plan.bytes = static_cast<double>(in.rows) * static_cast<double>(in.cols * in.element_bytes);
  const auto tile = static_cast<double>(plan.tile_rows * plan.tile_cols * in.element_bytes);
  const double of_links = std::min(rates.bytes_in, rates.bytes_out) * static_cast<double>(devices);
  plan.seconds = plan.bytes / std::min(of_links, rates.host_bytes) +
                 tile / std::max(rates.bytes_in, rates.bytes_out);
  return plan;
}

absl::StatusOr<TransposeStreamPlan> PlanTranspose(const MatrixView& in, int64_t device_bytes,
                                                  int64_t devices, const StreamRates& rates) {
  for (int64_t side = std::max<int64_t>(1, kRowBytes / in.element_bytes); side > 0; side /= 2) {
    // What a thin matrix leaves of one side goes to the other.
    const int64_t rows =
        std::min(in.rows, side * std::max<int64_t>(1, side / std::max<int64_t>(1, in.cols)));
    const int64_t cols =
        std::min(in.cols, side * std::max<int64_t>(1, side / std::max<int64_t>(1, in.rows)));
    const TransposeStreamPlan plan = PlanTransposeWithTiles(
        in, devices, rates, std::max<int64_t>(1, rows), std::max<int64_t>(1, cols));
    if (plan.device_bytes <= device_bytes) return plan;
  }
  return absl::ResourceExhaustedError(absl::StrCat("device_bytes is ", device_bytes,
                                                   "; a tile of 1x1 needs ",
                                                   4 * BufferBytes(1, 1, in.element_bytes)));
}

TransposeJob::TransposeJob(const MatrixView& in, const MutableMatrixView& out,
                           const TransposeStreamPlan& plan, DeviceTranspose transpose)
    : in_(in), out_(out), plan_(plan), transpose_(std::move(transpose)) {}

StreamCheckpoint TransposeJob::first_checkpoint() const {
  return {plan_.tile_rows, plan_.tile_cols,
          std::vector<bool>(plan_.tiles_down * plan_.tiles_across)};
}

int64_t TransposeJob::input_bytes() const {
  return BufferBytes(plan_.tile_rows, plan_.tile_cols, in_.element_bytes);
}

int64_t TransposeJob::output_bytes() const {
  return BufferBytes(plan_.tile_cols, plan_.tile_rows, in_.element_bytes);
}

TransposeJob::Part TransposeJob::PartOf(int64_t tile) const {
  Part part;
  part.row = tile / plan_.tiles_across * plan_.tile_rows;
  part.rows = std::min(plan_.tile_rows, in_.rows - part.row);
  part.col = tile % plan_.tiles_across * plan_.tile_cols;
  part.cols = std::min(plan_.tile_cols, in_.cols - part.col);
  return part;
}

std::vector<BlockCopy> TransposeJob::Loads(const StreamStep& step, void* input) const {
  const Part p = PartOf(step.tile);
  const int64_t size = in_.element_bytes;
  const char* const from = static_cast<const char*>(in_.data) + (p.row * in_.ld + p.col) * size;
  return {{input, Ld(plan_.tile_cols, size) * size, from, in_.ld * size, p.cols * size, p.rows}};
}

absl::Status TransposeJob::Compute(const StreamStep& step, const StreamBand& /*band*/,
                                   const StreamBuffers& buffers, cudaStream_t stream) const {
  const Part p = PartOf(step.tile);
  const int64_t size = in_.element_bytes;
  const MatrixView in = {buffers.input, p.rows, p.cols, Ld(plan_.tile_cols, size), size};
  const MutableMatrixView out = {buffers.output, p.cols, p.rows, Ld(plan_.tile_rows, size), size};
  return transpose_(in, out, stream);
}

BlockCopy TransposeJob::Store(int64_t tile, const StreamBand& /*band*/, const void* output) const {
  const Part p = PartOf(tile);
  const int64_t size = in_.element_bytes;
  char* const to = static_cast<char*>(out_.data) + (p.col * out_.ld + p.row) * size;
  return {to, out_.ld * size, output, Ld(plan_.tile_rows, size) * size, p.rows * size, p.cols};
}

}  // namespace stridewise
