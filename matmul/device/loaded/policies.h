// The tiles of kernels that copy through registers (tile.h).

#ifndef STRIDEWISE_MATMUL_DEVICE_LOADED_POLICIES_H_
#define STRIDEWISE_MATMUL_DEVICE_LOADED_POLICIES_H_

#include "matmul/device/gemm_types.h"
#include "matmul/device/tile_policies.h"

namespace stridewise {

// Float32, for which ComputeTile() copies through registers.
struct LoadedFloat32 : Float32 {};

// TilePolicyBatch64x64 for a short k and rows that do not begin at multiples of 16 bytes: 777
// products of 812x43x189 nt take 433 us instead of 533 on an H200, for which copies of 4 bytes
// occupy the load/store unit longer than fma do the schedulers.
//
// kCopyParts is the number of parts in which a thread loads its elements of a stage, each stored
// before the next one is loaded, so that few registers are enough.
struct TilePolicyLoaded64x64 : TilePolicyBatch64x64 {
  using Types = LoadedFloat32;
  static constexpr int kCopyParts = 2;
  static constexpr int kMinBlocks = 6, kBlocksPerMultiprocessor = 6;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_LOADED_POLICIES_H_
