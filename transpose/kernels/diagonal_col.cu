// naive_col with the blocks of a row of tiles shifted by the row's number, so that blocks that run
// together work along a diagonal. It was the cure for partition camping: on GPUs of compute
// capability 1.x a column of tiles could lie in one of the few memory partitions. Addresses are
// hashed over the partitions since. The shift is modulo the grid's *width*, so that every tile is
// taken once whatever the grid's shape (Ruetsch and Micikevicius, Optimizing Matrix Transpose in
// CUDA, 2009).

#include "common/launch.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

template <typename T>
__global__ void DiagonalCol(ConstMatrix<T> in, Matrix<T> out) {
  const int64_t tile_row = BlockRow();
  const int64_t tile_col = (blockIdx.x + tile_row) % gridDim.x;
  const int64_t row = tile_row * blockDim.y + threadIdx.y;
  const int64_t col = tile_col * blockDim.x + threadIdx.x;
  if (row < out.rows && col < out.cols) out(row, col) = in(col, row);
}

}  // namespace

absl::Status TransposeDiagonalCol(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return Launch(DiagonalCol<T>, TileGrid(args.cols, args.rows, block.y, block.x), block, 0,
                  args.stream, args.In<T>(), args.Out<T>());
  });
}

}  // namespace stridewise
