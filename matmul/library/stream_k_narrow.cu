// `stream_k` with tiles of 32 columns or 32 rows, for operands that the TMA cannot load since their
// rows do not begin at multiples of 16 bytes.
//
// As in TilePolicy64x64 each of four warps computes the whole tile from a quarter of the k extent:
// a thread has 128 fma for 6 loads, where a thread of TilePolicy32x32 has 32 for 3.

#include "matmul/device/stream_k.h"
#include "matmul/device/tile_policies.h"

namespace stridewise {

STRIDEWISE_STREAM_K(MatMulStreamK128x32, TilePolicy128x32)
STRIDEWISE_STREAM_K(MatMulStreamK32x128, TilePolicy32x128)

}  // namespace stridewise
