// `stream_k` for products up to about 256, which last as long as a launch and two trips to memory:
// few tiles, 128 terms a step so that nearly all loads are on their way at once, and eight warps
// that share the terms.

#include "matmul/args.h"
#include "matmul/device/stream_k.h"

namespace stridewise {
namespace {

struct Tile : BlockTile<32, 32, 128, 32, 32, 3, 1, 8> {
  static constexpr double kShareCost = 3;  // In steps; measured on an H200.
};

}  // namespace

int64_t MatMulStreamK32x32WorkspaceBytes(const MatMulArgs& args) {
  return StreamKWorkspaceBytes<Tile>(args);
}

absl::Status MatMulStreamK32x32(const MatMulArgs& args) { return LaunchStreamK<Tile>(args); }

}  // namespace stridewise
