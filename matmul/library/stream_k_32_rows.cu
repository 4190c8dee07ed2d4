// `stream_k` with tiles of 32 rows, for small products; tile_policies.h says what each kernel is
// for.

#include "matmul/device/stream_k.h"
#include "matmul/device/tile_policies.h"

namespace stridewise {

STRIDEWISE_STREAM_K(MatMulStreamK32x32, TilePolicy32x32)
STRIDEWISE_STREAM_K(MatMulStreamK32x64, TilePolicy32x64)

}  // namespace stridewise
