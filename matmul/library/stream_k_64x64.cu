// `stream_k` for products of about 1024: a tile of 64x64 for four warps. Each makes all of it, from
// a quarter of the terms, so that a thread still has 8x16 elements and 128 fma for 6 loads.

#include "matmul/args.h"
#include "matmul/device/stream_k.h"

namespace stridewise {
namespace {

struct Tile : BlockTile<64, 64, 32, 64, 64, 3, 2, 4> {
  static constexpr double kShareCost = 6;  // In steps; measured on an H200.
};

}  // namespace

int64_t MatMulStreamK64x64WorkspaceBytes(const MatMulArgs& args) {
  return StreamKWorkspaceBytes<Tile>(args);
}

absl::Status MatMulStreamK64x64(const MatMulArgs& args) { return LaunchStreamK<Tile>(args); }

}  // namespace stridewise
