// Reads along columns, writes along rows: naive_row with the stride on the side of the loads. What
// a sector holds beyond the element that was asked for stays in L1, where neighbouring warps find
// it; a strided store has no such second chance.

#include "common/launch.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

// Row and column are those of `out`.
template <typename T>
__global__ void NaiveCol(ConstMatrix<T> in, Matrix<T> out) {
  const int64_t row = BlockRow() * blockDim.y + threadIdx.y;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < out.rows && col < out.cols) out(row, col) = in(col, row);
}

}  // namespace

absl::Status TransposeNaiveCol(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return Launch(NaiveCol<T>, TileGrid(args.cols, args.rows, block.y, block.x), block, 0,
                  args.stream, args.In<T>(), args.Out<T>());
  });
}

}  // namespace stridewise
