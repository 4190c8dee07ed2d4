// `stream_k` for batches of small products: tiles of 64x64, two warps with a half each, and eight
// blocks on a multiprocessor. There are blocks enough, and so few terms that a block's beginning
// and end, which others fill, are most of its time: 1000 products of 64^3 take 22.0 us, and 25.7
// with twice the terms a stage and four blocks of four warps. Slices along k, as in stream_k_64x64,
// would have next to nothing to divide, and sums to add.

#include "matmul/args.h"
#include "matmul/device/stream_k.h"

namespace stridewise {
namespace {

struct Tile : BlockTile<64, 64, 16, 64, 32, 3, 8> {
  static constexpr double kShareCost = 6;  // In steps; as stream_k_64x64.
};

}  // namespace

int64_t MatMulBatch64x64WorkspaceBytes(const MatMulArgs& args) {
  return StreamKWorkspaceBytes<Tile>(args);
}

absl::Status MatMulBatch64x64(const MatMulArgs& args) { return LaunchStreamK<Tile>(args); }

}  // namespace stridewise
