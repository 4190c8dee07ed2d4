// `stream_k_64x64` with twice the warps to a tile, and as much of a multiprocessor as two of its
// blocks: for products that have just about a tile for each multiprocessor, n = 640 to 704 on an
// H200. There `stream_k_64x64` has to cut its tiles to fill the second half, and n = 704 takes 27.2
// us; whole tiles, each a whole multiprocessor's work, take 24.2. What it costs is eight partial
// sums an element, added in shared memory.

#include "matmul/args.h"
#include "matmul/device/stream_k.h"

namespace stridewise {
namespace {

struct Tile : BlockTile<64, 64, 64, 64, 64, 3, 1, 8> {
  // In steps. On an H200 shares of 3.9 steps instead of 8 pay (n = 512: 15.8 us instead of 18.9),
  // of 6.8 instead of 14 too (896), of 10.6 instead of 15 they cost 3 % (960).
  static constexpr double kShareCost = 4;
};

}  // namespace

int64_t MatMulRound64x64WorkspaceBytes(const MatMulArgs& args) {
  return StreamKWorkspaceBytes<Tile>(args);
}

absl::Status MatMulRound64x64(const MatMulArgs& args) { return LaunchStreamK<Tile>(args); }

}  // namespace stridewise
