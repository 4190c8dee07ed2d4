// `double_buffered` in the general form, with equal work for all multiprocessors to the end
// (stream_k_schedule.h). The kernels with large tiles; tile_policies.h says what each is for.

#include "matmul/device/stream_k.h"
#include "matmul/device/tile_policies.h"

namespace stridewise {

STRIDEWISE_STREAM_K(MatMulStreamK, TilePolicy128x256)
STRIDEWISE_STREAM_K(MatMulStreamK128x128, TilePolicy128x128)
STRIDEWISE_STREAM_K(MatMulStreamK64x128, TilePolicy64x128)

}  // namespace stridewise
