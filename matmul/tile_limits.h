// The limits of kernels that work on tiles in shared memory.

#ifndef STRIDEWISE_MATMUL_TILE_LIMITS_H_
#define STRIDEWISE_MATMUL_TILE_LIMITS_H_

#include <cstdint>

#include "common/gpu/launch_status.h"
#include "matmul/args.h"

namespace stridewise {

// The largest leading dimension of A and B. Offsets within a tile, of at most 256 rows, columns or
// k, are computed in 32 bits: one instruction each.
inline constexpr int64_t kMaxTileLd = int64_t{1} << 23;

// Returns InvalidArgument where a leading dimension is larger.
LaunchStatus CheckTileLd(const MatMulArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TILE_LIMITS_H_
