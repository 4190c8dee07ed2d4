// What a product takes whose operands are split on their way to shared memory
// (matmul/device/split_fused_launch.h): which calls, which tile, and how long.

#ifndef STRIDEWISE_MATMUL_FUSED_CHOICE_H_
#define STRIDEWISE_MATMUL_FUSED_CHOICE_H_

#include <cstdint>

#include "common/gpu/device_model.h"
#include "matmul/args.h"

namespace stridewise {

// From here on the error bound is below that of FP32 (docs/fp32_split.md).
constexpr int64_t kLeastFusedK = 64;

// Returns whether the kernel takes a call.
bool CanFuse(const MatMulArgs& args, const DeviceModel& device);

// The tiles, by their rows and columns.
enum class FusedTileShape { k128x128, k256x64, k64x256 };

struct FusedChoice {
  FusedTileShape tile;
  // Blocks that divide the k of a tile: those of a cluster,
  int split;
  double us;
  // or, where a workspace holds their sums, any blocks; the first `whole` tiles are not divided.
  int64_t partial_bytes = 0;
  int64_t whole = 0;
};

// Returns the fastest tile and split, with no more workspace than the call has, or than its
// operands take. REQUIRES: CanFuse().
FusedChoice ChooseFused(const MatMulArgs& args, const DeviceModel& device);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_FUSED_CHOICE_H_
