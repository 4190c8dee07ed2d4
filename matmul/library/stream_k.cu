// `double_buffered` in the general form, and with equal work for all multiprocessors to the end:
// see shares.h.

#include "matmul/args.h"
#include "matmul/device/stream_k.h"

namespace stridewise {
namespace {

struct Tile : BlockTile<128, 256, 32, 64, 64, 3, 1> {
  static constexpr double kShareCost = 5;  // In steps; measured on an H200.
};

}  // namespace

int64_t MatMulStreamKWorkspaceBytes(const MatMulArgs& args) {
  return StreamKWorkspaceBytes<Tile>(args);
}

absl::Status MatMulStreamK(const MatMulArgs& args) { return LaunchStreamK<Tile>(args); }

}  // namespace stridewise
