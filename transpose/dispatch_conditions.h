// What the conditions in library.inc, under which `auto` runs a kernel, are made of.

#ifndef STRIDEWISE_TRANSPOSE_DISPATCH_CONDITIONS_H_
#define STRIDEWISE_TRANSPOSE_DISPATCH_CONDITIONS_H_

#include <cstdint>

#include "common/gpu/launch_geometry.h"
#include "transpose/alignment.h"
#include "transpose/registry.h"

namespace stridewise {

// Returns the bytes of one matrix.
inline int64_t MatrixBytes(const TransposeArgs& args) {
  return args.rows * args.cols * args.element_bytes;
}

// Returns whether there is no byte between rows, nor between matrices, on either side.
inline bool IsGapless(const TransposeArgs& args) {
  const int64_t elements = args.rows * args.cols;
  return args.ld_in == args.cols && args.ld_out == args.rows && args.stride_in == elements &&
         args.stride_out == elements;
}

// Returns whether each matrix of the batch, if it is one, deserves a launch of its own: the fewer
// bytes a matrix has, the more its launch costs.
inline bool IsWorthALaunch(const TransposeArgs& args) {
  constexpr int64_t kBytesWorthALaunch = int64_t{1} << 20;
  return args.batch <= 1 || MatrixBytes(args) >= kBytesWorthALaunch;
}

// Returns whether the matrix covers most of the 64x64 tiles that cover it: 85 %, or 70 % with
// elements of 1 and 2 bytes, which cost tile_ragged more: 96 columns of bytes 0.94 and 0.58.
inline bool FillsTiles(const TransposeArgs& args) {
  constexpr int64_t kTile = 64;
  const double mostly = args.element_bytes <= 2 ? 0.70 : 0.85;
  const auto covered = [](int64_t extent) {
    return static_cast<double>(CeilDiv(extent, kTile) * kTile);
  };
  return static_cast<double>(args.rows) * static_cast<double>(args.cols) >=
         mostly * covered(args.rows) * covered(args.cols);
}

// Returns whether tiles of whole vectors suit the matrix. Sectors that two tiles share cost 4
// points of a copy's speed: hence 32 bytes for out rows.
inline bool FillsVectorTiles(const TransposeArgs& args) {
  return FillsTiles(args) && IsMadeOf(args, 16) && args.ld_out * args.element_bytes % 32 == 0;
}

// Returns the number for elements of 1, 2, 4, 8 or 16 bytes.
inline int64_t ForSize(const TransposeArgs& args, int64_t one, int64_t two, int64_t four,
                       int64_t eight, int64_t sixteen) {
  switch (args.element_bytes) {
    case 1:
      return one;
    case 2:
      return two;
    case 4:
      return four;
    case 8:
      return eight;
    default:
      return sixteen;
  }
}

// Returns whether the columns are so few that few_columns is faster than tiles.
inline bool HasFewColumns(const TransposeArgs& args) {
  if (args.rows < 8 * args.cols) return false;
  const bool flat = args.ld_in == args.cols;
  return args.cols <= (flat ? ForSize(args, 48, 24, 20, 20, 48) : 20);
}

// Returns whether the rows are so few that few_rows is faster than tiles.
inline bool HasFewRows(const TransposeArgs& args) {
  if (args.rows <= 20) return args.cols >= 8 * args.rows;
  if (args.element_bytes == 2 && args.rows > 64 && args.cols < 5 * args.rows) return false;
  return args.ld_out == args.rows && args.cols * args.element_bytes >= 128 &&
         args.rows <= ForSize(args, 400, 260, 60, 80, 64) && args.rows <= 2 * args.cols &&
         !FillsVectorTiles(args);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISPATCH_CONDITIONS_H_
