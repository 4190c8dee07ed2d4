// `stream_k` whose tiles are copied through registers; loaded/tile.h has its main loop, and
// loaded/policies.h says what it is for.

#include "matmul/device/loaded/policies.h"
#include "matmul/device/loaded/tile.h"
#include "matmul/device/stream_k.h"

namespace stridewise {

STRIDEWISE_STREAM_K(MatMulLoaded64x64, TilePolicyLoaded64x64)

}  // namespace stridewise
