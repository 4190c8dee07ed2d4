// Reads along rows, writes along columns. A warp of a 16x16 block stores into 16 rows of `out`, 2
// elements each: 16 sectors of 32 bytes for 128 bytes of data, 25 %; with 32x8 blocks 32
// sectors, 12.5 %. Stores are not gathered in L1.

#include "common/launch.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

template <typename T>
__global__ void NaiveRow(ConstMatrix<T> in, Matrix<T> out) {
  const int64_t row = BlockRow() * blockDim.y + threadIdx.y;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < in.rows && col < in.cols) out(col, row) = in(row, col);
}

}  // namespace

absl::Status TransposeNaiveRow(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return Launch(NaiveRow<T>, TileGrid(args.rows, args.cols, block.y, block.x), block, 0,
                  args.stream, args.In<T>(), args.Out<T>());
  });
}

}  // namespace stridewise
