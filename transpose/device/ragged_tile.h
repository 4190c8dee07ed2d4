// How tile_ragged and tile_words cut a matrix whose rows start anywhere into tiles, and the tile of
// a block. Included by .cu files.
//
// Where out rows do not begin at sectors, a tile holds a sector of rows more than it writes: see
// sector_piece.h.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_TILE_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_TILE_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch_geometry.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/tile_grid.h"
#include "transpose/device/vectors.h"

namespace stridewise {

inline constexpr int kLineBytes = 128;

// How the matrix is cut into tiles.
struct RaggedCut {
  int cols;       // Columns of `in` that a tile covers.
  int rows;       // Rows of `in` that a tile writes.
  int rows_held;  // Rows of `in` that a tile holds: rows + shift.
  int shift;      // Rows that a tile holds before the first that it writes.

  int64_t TileRows(const TransposeArgs& args) const { return CeilDiv(args.rows + shift, rows); }
  int64_t TileCols(const TransposeArgs& args) const { return CeilDiv(args.cols, cols); }
};

// The most that a tile may have.
struct RaggedLimits {
  int64_t rows_held;
  int64_t cols;
  int64_t col_unit;  // Columns are cut at multiples of this number.
  int64_t blocks;    // That a multiprocessor holds.
  // Waves of blocks that smaller tiles fill, where all tiles are no more.
  int64_t waves;
  bool spreads;  // Whether tiles that would fill less than half a wave are made smaller, too.
};

// Returns a cut into tiles of equal height and width. Where all tiles are a few waves of blocks,
// they are made smaller, so that the last wave is as full as the others.
inline RaggedCut MakeRaggedCut(const TransposeArgs& args, const RaggedLimits& limits) {
  constexpr int64_t kMultiprocessors = 132;
  const bool out_aligned = OutRowsAreAt(args, kSectorBytes);
  const int64_t shift = out_aligned ? 0 : kSectorBytes / args.element_bytes;
  const int64_t row_unit = (out_aligned ? kLineBytes : kSectorBytes) / args.element_bytes;
  const auto cut = [&](int64_t tile_rows, int64_t tile_cols) {
    const auto even = [](int64_t extent, int64_t tiles, int64_t unit) {
      return static_cast<int>(CeilDiv(CeilDiv(extent, tiles), unit) * unit);
    };
    RaggedCut made;
    made.rows = even(args.rows + shift, tile_rows, row_unit);
    made.cols = even(args.cols, tile_cols, limits.col_unit);
    made.shift = static_cast<int>(shift);
    made.rows_held = made.rows + made.shift;
    return made;
  };
  const int64_t most_rows = (limits.rows_held - shift) / row_unit * row_unit;
  const int64_t most_cols = limits.cols / limits.col_unit * limits.col_unit;
  const int64_t tile_rows = CeilDiv(args.rows + shift, most_rows);
  const int64_t tile_cols = CeilDiv(args.cols, most_cols);
  const RaggedCut largest = cut(tile_rows, tile_cols);
  const int64_t slots = limits.blocks * kMultiprocessors;
  const int64_t tiles = tile_rows * tile_cols * args.batch;
  const int64_t waves = CeilDiv(tiles, slots);
  if (tiles == 0 || waves > limits.waves) return largest;
  if (2 * tiles < slots && !limits.spreads) return largest;
  // The time of all waves, in elements.
  const auto cost = [&](const RaggedCut& c) {
    return CeilDiv(c.TileRows(args) * c.TileCols(args) * args.batch, slots) * c.rows_held * c.cols;
  };
  // No smaller than a cache line, where they are spread.
  const auto parts = [&](int64_t tiles_of_wave, int64_t least, int64_t extent) {
    const int64_t lines = std::max(least, CeilDiv(extent * args.element_bytes, kLineBytes));
    return limits.spreads ? std::min(tiles_of_wave, lines) : tiles_of_wave;
  };
  const RaggedCut narrower =
      cut(tile_rows, parts(waves * slots / (tile_rows * args.batch), tile_cols, args.cols));
  const RaggedCut lower =
      cut(parts(waves * slots / (tile_cols * args.batch), tile_rows, args.rows), tile_cols);
  const RaggedCut& best = cost(lower) < cost(narrower) ? lower : narrower;
  return 20 * cost(best) < 19 * cost(largest) ? best : largest;
}

// The block's part of the matrix.
struct RaggedPart {
  int64_t first_row;  // Row of `in` that is the tile's row 0; negative at the upper edge.
  int64_t first_col;  // Column of `in` that is the tile's column 0.
  int begin;          // The tile's first row that the matrix has.
  int end;            // One past the tile's last row that the matrix has; <= begin: no tile.
  int cols;           // Columns of the tile that the matrix has.

  // Returns whether the matrix has all rows of the tile.
  __device__ bool IsWhole(const RaggedCut& cut) const { return begin == 0 && end == cut.rows_held; }
};

// Moves the views to the block's matrix and returns the block's part of it.
template <typename In, typename Out>
__device__ inline RaggedPart EnterRaggedTile(const TileBatch& batch, const RaggedCut& cut, In* in,
                                             Out* out) {
  const TileCoordinate coordinate = EnterTile(batch, in, out);
  RaggedPart part;
  part.first_col = coordinate.col * cut.cols;
  part.first_row = coordinate.row * cut.rows - cut.shift;
  part.begin = part.first_row < 0 ? static_cast<int>(-part.first_row) : 0;
  const int64_t below = in->rows - part.first_row;
  part.end = below < cut.rows_held ? static_cast<int>(below) : cut.rows_held;
  const int64_t right = in->cols - part.first_col;
  part.cols = right < cut.cols ? static_cast<int>(right) : cut.cols;
  return part;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_TILE_H_
