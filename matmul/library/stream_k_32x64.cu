// `stream_k` for products of about 512: 128 tiles of 32x64, one for each multiprocessor, of eight
// warps that make all of it from an eighth of the terms each.

#include "matmul/args.h"
#include "matmul/device/stream_k.h"

namespace stridewise {
namespace {

struct Tile : BlockTile<32, 64, 64, 32, 64, 3, 1, 8> {
  static constexpr double kShareCost = 3.5;  // In steps; measured on an H200.
};

}  // namespace

int64_t MatMulStreamK32x64WorkspaceBytes(const MatMulArgs& args) {
  return StreamKWorkspaceBytes<Tile>(args);
}

absl::Status MatMulStreamK32x64(const MatMulArgs& args) { return LaunchStreamK<Tile>(args); }

}  // namespace stridewise
