// `stream_k` with tiles of 64x64; tile_policies.h says what each kernel is for.

#include "matmul/device/stream_k.h"
#include "matmul/device/tile_policies.h"

namespace stridewise {

STRIDEWISE_STREAM_K(MatMulStreamK64x64, TilePolicy64x64)
STRIDEWISE_STREAM_K(MatMulRound64x64, TilePolicyRound64x64)
STRIDEWISE_STREAM_K(MatMulBatch64x64, TilePolicyBatch64x64)

}  // namespace stridewise
