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
  int split;  // Blocks that divide the k of a tile.
  double us;
};

// Returns the fastest tile and split. REQUIRES: CanFuse().
FusedChoice ChooseFused(const MatMulArgs& args, const DeviceModel& device);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_FUSED_CHOICE_H_
