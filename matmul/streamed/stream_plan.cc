#include "matmul/streamed/stream_plan.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "matmul/streamed/stream_layout.h"

namespace stridewise {
namespace {

// What the rates leave out, about as on an H200: a kernel reads and writes its tile of C once for
// each panel, at the memory's rate; the last wave of blocks, 128 x 256 of C on each of 132
// multiprocessors, leaves a third of them idle; a step costs the host and the device some
// microseconds; and a row of a copy costs 50 ns beside its bytes.
constexpr double kDeviceBytesPerSecond = 4e12;
constexpr double kIdleElements = 128.0 * 256 * 132 / 3;
constexpr double kSecondsOfStep = 20e-6;
constexpr double kSecondsOfRow = 50e-9;

constexpr int64_t kDepths[] = {8192, 4096, 2048, 1024, 512, 256, 128, 64, 16, 4, 1};

// A step of 8192 takes 53 ms on an H100 with tiles of 16384 x 11008, an eighth of its panels 3 ms
// to load. Shorter slices than 256 leave a product at the rate of its C.
constexpr int64_t kSlices = 8;
constexpr int64_t kLeastSlice = 256;

// Bands of less than 1024 rows would leave multiprocessors idle for longer than the store takes.
constexpr int64_t kBands = 4;
constexpr int64_t kLeastBand = 1024;

int64_t Quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Plans are chosen as if copies took so much longer: both ways share the host's memory, with each
// other and with other programs, and a kernel that waits loses more than larger tiles do.
constexpr double kCopyMargin = 1.5;

// Returns the predicted seconds where copies take `margin` times as long as the rates say. The rest
// of the plan is set.
double Seconds(const StreamedProduct& p, const StreamLimits& limits, const MatMulStreamPlan& plan,
               double margin) {
  const auto elements = static_cast<double>(p.m) * static_cast<double>(p.n);
  const auto tiles = static_cast<double>(plan.tiles_down * plan.tiles_across);
  const auto steps = static_cast<double>(plan.steps);
  const auto output_bytes = static_cast<double>(p.output_bytes);
  const double arithmetic =
      2 * elements * static_cast<double>(p.k) / limits.rates.flops +
      2 * elements * output_bytes * steps / kDeviceBytesPerSecond +
      2 * tiles * kIdleElements * static_cast<double>(p.k) / limits.rates.flops +
      tiles * steps * kSecondsOfStep;
  const double rows_in =
      static_cast<double>(plan.tiles_across * plan.steps) * static_cast<double>(p.m) +
      tiles * static_cast<double>(p.k);
  const double copies_in = plan.bytes_in / limits.rates.bytes_in + rows_in * kSecondsOfRow;
  const double slowest =
      std::max({arithmetic, margin * copies_in, margin * plan.bytes_out / limits.rates.bytes_out});
  // Of the device with the most tiles.
  const auto share =
      static_cast<double>(Quotient(plan.tiles_down * plan.tiles_across, limits.devices)) / tiles;
  const auto first =
      static_cast<double>((plan.tile_rows + plan.tile_cols) * plan.slice * p.input_bytes);
  const double tile = static_cast<double>(plan.tile_rows * plan.tile_cols) * output_bytes;
  return slowest * share + (first + (p.reads_c ? tile : 0)) / limits.rates.bytes_in +
         tile / static_cast<double>(plan.bands) / limits.rates.bytes_out;
}

MatMulStreamPlan Complete(const StreamedProduct& p, const StreamLimits& limits, int64_t tile_rows,
                          int64_t tile_cols, int64_t depth) {
  MatMulStreamPlan plan;
  plan.tile_rows = tile_rows;
  plan.tile_cols = tile_cols;
  plan.depth = depth;
  plan.tiles_down = Quotient(p.m, tile_rows);
  plan.tiles_across = Quotient(p.n, tile_cols);
  plan.steps = std::max<int64_t>(1, Quotient(p.k, depth));  // With k = 0 C is scaled.
  plan.slice = depth % kSlices == 0 && depth >= kSlices * kLeastSlice ? depth / kSlices : depth;
  plan.bands = tile_rows >= kBands * kLeastBand ? kBands : 1;
  const StreamLayout layout(p, tile_rows, tile_cols, depth);
  plan.device_bytes = 2 * (layout.input_bytes() + layout.output_bytes());
  const double c_bytes = static_cast<double>(p.m) * static_cast<double>(p.n * p.output_bytes);
  const double a_panels = static_cast<double>(p.m) * static_cast<double>(plan.tiles_across);
  const double b_panels = static_cast<double>(p.n) * static_cast<double>(plan.tiles_down);
  plan.bytes_in =
      (a_panels + b_panels) * static_cast<double>(p.k * p.input_bytes) + (p.reads_c ? c_bytes : 0);
  plan.bytes_out = c_bytes;
  plan.seconds = Seconds(p, limits, plan, 1);
  plan.cautious_seconds = Seconds(p, limits, plan, kCopyMargin);
  return plan;
}

// Returns the best plan with these tiles that fits, or else the one with the flattest panels.
MatMulStreamPlan BestDepth(const StreamedProduct& p, const StreamLimits& limits, int64_t tile_rows,
                           int64_t tile_cols) {
  MatMulStreamPlan best;
  for (const int64_t depth : kDepths) {
    if (depth > p.k && depth > 1) continue;
    const MatMulStreamPlan plan = Complete(p, limits, tile_rows, tile_cols, depth);
    const bool fits = plan.device_bytes <= limits.device_bytes;
    const bool best_fits = best.depth > 0 && best.device_bytes <= limits.device_bytes;
    if (best.depth == 0 || (!best_fits && plan.device_bytes < best.device_bytes) ||
        (fits && plan.cautious_seconds < best.cautious_seconds)) {
      best = plan;
    }
  }
  return best;
}

// Returns extents to cut `extent` into, the longest first: near equal parts, rounded up to what
// kernels like.
std::vector<int64_t> Extents(int64_t extent) {
  std::vector<int64_t> extents;
  for (int64_t parts = 1; parts <= extent; parts += std::max<int64_t>(1, parts / 16)) {
    const int64_t even = Quotient(extent, parts);
    const int64_t unit = even >= 1024 ? 256 : even >= 64 ? 32 : 1;
    const int64_t rounded = std::min(extent, Quotient(even, unit) * unit);
    if (extents.empty() || extents.back() != rounded) extents.push_back(rounded);
  }
  return extents;
}

}  // namespace

MatMulStreamPlan PlanWithTiles(const StreamedProduct& product, const StreamLimits& limits,
                               int64_t tile_rows, int64_t tile_cols) {
  if (product.m == 0 || product.n == 0) return {};
  return BestDepth(product, limits, std::min(tile_rows, product.m), std::min(tile_cols, product.n));
}

absl::StatusOr<MatMulStreamPlan> PlanStreamedProduct(const StreamedProduct& product,
                                                     const StreamLimits& limits) {
  if (product.m == 0 || product.n == 0) return MatMulStreamPlan();
  MatMulStreamPlan best;
  const std::vector<int64_t> widths = Extents(product.n);
  for (const int64_t tile_rows : Extents(product.m)) {
    for (const int64_t tile_cols : widths) {
      // Two tiles alone are too much: cheaper to know than the best panels.
      if (2 * tile_rows * tile_cols * product.output_bytes > limits.device_bytes) continue;
      const MatMulStreamPlan plan = BestDepth(product, limits, tile_rows, tile_cols);
      if (plan.device_bytes > limits.device_bytes) continue;
      if (best.depth == 0 || plan.cautious_seconds < best.cautious_seconds) best = plan;
    }
  }
  if (best.depth == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("device_bytes is ", limits.device_bytes, "; a tile of 1x1 needs ",
                     Complete(product, limits, 1, 1, 1).device_bytes));
  }
  return best;
}

}  // namespace stridewise
