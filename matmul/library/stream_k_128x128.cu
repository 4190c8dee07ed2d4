// `stream_k` with half the tile, and two blocks on a multiprocessor: 3 % slower where both fit, and
// better where 256 columns do not.

#include "matmul/args.h"
#include "matmul/device/stream_k.h"

namespace stridewise {
namespace {

struct Tile : BlockTile<128, 128, 32, 64, 64, 3, 2> {
  static constexpr double kShareCost = 4.5;  // In steps; measured on an H200.
};

}  // namespace

int64_t MatMulStreamK128x128WorkspaceBytes(const MatMulArgs& args) {
  return StreamKWorkspaceBytes<Tile>(args);
}

absl::Status MatMulStreamK128x128(const MatMulArgs& args) { return LaunchStreamK<Tile>(args); }

}  // namespace stridewise
