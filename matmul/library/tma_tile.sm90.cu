// Tiles of any layout, loaded by the TMA (tma_tile.h), in sizes for large products
// and for few rows or columns.

#include "matmul/device/tile_policies.h"
#include "matmul/device/tma_tile.h"

// Defines the two functions of a registry line for the kernel with this tile policy. `fallback` is
// the entry that runs what the TMA cannot address.
#define STRIDEWISE_TMA_TILE(function, Policy, fallback)             \
  int64_t function##WorkspaceBytes(const MatMulArgs& args) {        \
    static const MatMulFunctions functions = FunctionsOf(fallback); \
    return TmaWorkspaceBytes<TmaTile<Policy>>(args, functions);     \
  }                                                                 \
  LaunchStatus function(const MatMulArgs& args) {                   \
    static const MatMulFunctions functions = FunctionsOf(fallback); \
    return LaunchTma<TmaTile<Policy>>(args, functions);             \
  }

namespace stridewise {

STRIDEWISE_TMA_TILE(MatMulTma128x32, TilePolicyTma128x32, "stream_k_32x64")
STRIDEWISE_TMA_TILE(MatMulTma32x128, TilePolicyTma32x128, "stream_k_32x64")

}  // namespace stridewise
