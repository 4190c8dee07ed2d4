// What the kernels that work on tiles in shared memory cannot take.

#ifndef STRIDEWISE_MATMUL_TILE_LIMITS_H_
#define STRIDEWISE_MATMUL_TILE_LIMITS_H_

#include <cstdint>

namespace stridewise {

// Leading dimensions of A and B. Steps within a tile, of at most 256 lines or terms, are counted in
// 32 bits: one instruction each.
inline constexpr int64_t kMaxTileLd = int64_t{1} << 23;

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TILE_LIMITS_H_
