// What the conditions in kernels.inc, under which `auto` runs a kernel, are made of.

#ifndef STRIDEWISE_MATMUL_DISPATCH_CONDITIONS_H_
#define STRIDEWISE_MATMUL_DISPATCH_CONDITIONS_H_

#include <cstdint>

#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/tile_limits.h"
#include "matmul/tuning.h"

namespace stridewise {

// Returns the number of tiles that cover C, of the whole batch.
inline int64_t Tiles(const MatMulArgs& args, int64_t rows, int64_t cols) {
  return CeilDiv(args.m, rows) * CeilDiv(args.n, cols) * args.batch;
}

// Returns whether kernels that copy tiles to shared memory take the leading dimensions.
inline bool FitsTiles(const MatMulArgs& args) {
  return args.a.ld <= kMaxTileLd && args.b.ld <= kMaxTileLd;
}

// Returns whether tiles of this size cover C in less time than any larger tiles that `auto` can
// choose. The time is the number of elements in all tiles, those outside C included, times the cost
// of an element that the line of a kernel with such tiles gives. Smaller tiles cost more an element
// and have fewer elements outside C. REQUIRES: `auto` can choose a kernel with tiles of this size.
bool CoversFastest(const MatMulArgs& args, const MatMulTuning& tuning, int64_t rows, int64_t cols);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISPATCH_CONDITIONS_H_
