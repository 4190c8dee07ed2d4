// How a product that does not fit a device is divided: tiles of C that stay on a device while
// panels of A and B are copied in.
//
// C is cut into tiles of tile_rows x tile_cols, k into panels of `depth`. A device holds two tiles
// of C, so that one is copied to the host while the other is computed, and two panels of A and of
// B, so that one is copied in while the other is multiplied. Each panel of A is copied once for
// each column of tiles, each panel of B once for each row of tiles: a tile of T x T does T
// multiply-adds for each element that is copied in.

#ifndef STRIDEWISE_MATMUL_STREAMED_STREAM_PLAN_H_
#define STRIDEWISE_MATMUL_STREAMED_STREAM_PLAN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/streaming/stream_options.h"

namespace stridewise {

// A row-major product as far as the plan depends on it.
struct StreamedProduct {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t input_bytes = 4;   // Of an element of A or B.
  int64_t output_bytes = 4;  // Of an element of C.
  bool reads_c = false;
};

struct MatMulStreamPlan {
  int64_t tile_rows = 0;
  int64_t tile_cols = 0;
  int64_t depth = 0;
  int64_t tiles_down = 0;
  int64_t tiles_across = 0;
  int64_t steps = 0;  // Of each tile, but for a device's first, whose steps begin with a slice.
  int64_t slice = 0;  // Of depth.
  int64_t bands = 0;  // In which the last tile of a device is computed and stored.
  int64_t device_bytes = 0;  // What each device holds, without a workspace of the kernels.
  double bytes_in = 0;       // Of all devices together.
  double bytes_out = 0;
  double seconds = 0;  // What the rates make of it.
  double cautious_seconds =
      0;  // What plans are compared by: with copies at two thirds of the rates.
};

// What the tiles have to fit.
struct StreamLimits {
  int64_t device_bytes = 0;  // Of each device.
  int64_t devices = 1;
  StreamRates rates;
};

// Returns the plan that is predicted to take the least cautious_seconds: the longest of the
// arithmetic and the copies in and out, and before and behind it the first slice in and the last
// band out. With C of no elements there are no tiles.
//
// Returns ResourceExhausted, naming device_bytes, where not even the smallest tiles fit.
absl::StatusOr<MatMulStreamPlan> PlanStreamedProduct(const StreamedProduct& product,
                                                     const StreamLimits& limits);

// Returns the plan with these tiles, which need not fit, and the panels that go best with them.
// Extents larger than the product's are cut to it. REQUIRES: tile_rows > 0, tile_cols > 0.
MatMulStreamPlan PlanWithTiles(const StreamedProduct& product, const StreamLimits& limits,
                               int64_t tile_rows, int64_t tile_cols);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_STREAMED_STREAM_PLAN_H_
