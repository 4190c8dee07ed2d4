// `stream_k` with tiles of 32 columns or 32 rows, for operands that the TMA cannot load since their
// rows do not begin at multiples of 16 bytes.
//
// As in TilePolicy64x64 each of four warps computes the whole tile from a quarter of the k extent:
// a thread has 128 fma for 6 loads, where a thread of TilePolicy32x32 has 32 for 3.

#include "matmul/device/stream_k.h"
#include "matmul/device/tile_policies.h"

namespace stridewise {
namespace {

struct TilePolicy128x32 : TilePolicyTma128x32 {
  static constexpr int kStages = 4;
};
struct TilePolicy32x128 : TilePolicyTma32x128 {
  static constexpr int kStages = 4;
};
static_assert(TileSharedMemory<TilePolicy128x32>::kSharedBytes == 84 << 10, "see kernels.inc");
static_assert(TileSharedMemory<TilePolicy32x128>::kSharedBytes == 84 << 10, "see kernels.inc");

}  // namespace

STRIDEWISE_STREAM_K(MatMulStreamK128x32, TilePolicy128x32)
STRIDEWISE_STREAM_K(MatMulStreamK32x128, TilePolicy32x128)

}  // namespace stridewise
