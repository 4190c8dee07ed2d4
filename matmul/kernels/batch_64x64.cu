// `stream_k` for batches of small products: tiles of 64x64, four warps with a quarter each, and
// four blocks on a multiprocessor. There are blocks enough, and so few terms that a block's
// beginning and end, which others fill, are most of its time; slices along k, as in stream_k_64x64,
// would have next to nothing to divide, and sums to add.

#include "matmul/kernels/stream_k.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

struct Tile : BlockTile<64, 64, 32, 32, 32, 3, 4> {
  static constexpr double kShareCost = 6;  // In steps; as stream_k_64x64.
};

}  // namespace

int64_t MatMulBatch64x64WorkspaceBytes(const MatMulArgs& args) {
  return StreamKWorkspaceBytes<Tile>(args);
}

absl::Status MatMulBatch64x64(const MatMulArgs& args) { return LaunchStreamK<Tile>(args); }

}  // namespace stridewise
