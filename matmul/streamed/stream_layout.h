// Where panels and tiles lie in the buffers of a device.

#ifndef STRIDEWISE_MATMUL_STREAMED_STREAM_LAYOUT_H_
#define STRIDEWISE_MATMUL_STREAMED_STREAM_LAYOUT_H_

#include <algorithm>
#include <cstdint>

#include "matmul/streamed/stream_plan.h"

namespace stridewise {

// An input buffer holds a panel of A and behind it one of B, either of which may be stored
// transposed; an output buffer holds a tile of C. Rows begin at multiples of 16 bytes, which the
// fastest kernels ask for, panels at multiples of 256.
class StreamLayout {
 public:
  StreamLayout(const StreamedProduct& product, int64_t tile_rows, int64_t tile_cols, int64_t depth)
      : input_(product.input_bytes),
        output_(product.output_bytes),
        rows_(tile_rows),
        cols_(tile_cols),
        depth_(depth) {}

  // Return leading dimensions in elements, that of A stored as its rows are `extent` long.
  static int64_t Ld(int64_t extent, int64_t element_bytes) {
    return (extent * element_bytes + 15) / 16 * 16 / element_bytes;
  }
  int64_t lda(bool transposed) const { return Ld(transposed ? rows_ : depth_, input_); }
  int64_t ldb(bool transposed) const { return Ld(transposed ? depth_ : cols_, input_); }
  int64_t ldc() const { return Ld(cols_, output_); }

  // Enough for either way of storing the panels.
  int64_t b_offset() const { return Panel(rows_); }
  int64_t input_bytes() const { return Panel(rows_) + Panel(cols_); }
  int64_t output_bytes() const { return Rounded(rows_ * ldc() * output_); }

 private:
  static int64_t Rounded(int64_t bytes) { return (bytes + 255) / 256 * 256; }
  int64_t Panel(int64_t extent) const {
    return Rounded(input_ * std::max(extent * Ld(depth_, input_), depth_ * Ld(extent, input_)));
  }

  int64_t input_;
  int64_t output_;
  int64_t rows_;
  int64_t cols_;
  int64_t depth_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_STREAMED_STREAM_LAYOUT_H_
