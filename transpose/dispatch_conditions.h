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

// Returns whether the matrix covers 85 % or more of the 64x64 tiles that cover it.
inline bool FillsTiles(const TransposeArgs& args) {
  constexpr int64_t kTile = 64;
  constexpr double kMostlyFull = 0.85;
  const auto covered = [](int64_t extent) {
    return static_cast<double>(CeilDiv(extent, kTile) * kTile);
  };
  return static_cast<double>(args.rows) * static_cast<double>(args.cols) >=
         kMostlyFull * covered(args.rows) * covered(args.cols);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISPATCH_CONDITIONS_H_
