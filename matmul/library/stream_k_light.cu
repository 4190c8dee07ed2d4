// `stream_k` with warps of 32x32 elements, for a short k; tile_policies.h says what each kernel is
// for.

#include "matmul/device/stream_k.h"
#include "matmul/device/tile_policies.h"

namespace stridewise {

STRIDEWISE_STREAM_K(MatMulLight64x64, TilePolicyLight64x64)
STRIDEWISE_STREAM_K(MatMulLight32x64, TilePolicyLight32x64)
STRIDEWISE_STREAM_K(MatMulLight64x32, TilePolicyLight64x32)

}  // namespace stridewise
