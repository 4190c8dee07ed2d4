// A copy with neighbouring threads down a column: both sides strided, a sector for each element.
// The lower bound of the studies. L1 saves the loads (a sector's other elements are read by
// neighbouring warps soon after), nothing saves the stores.

#include "common/launch.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

template <typename T>
__global__ void CopyColKernel(ConstMatrix<T> in, Matrix<T> out) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t col = BlockRow() * blockDim.y + threadIdx.y;
  if (row < in.rows && col < in.cols) out(row, col) = in(row, col);
}

}  // namespace

absl::Status CopyCol(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return Launch(CopyColKernel<T>, TileGrid(args.cols, args.rows, block.y, block.x), block, 0,
                  args.stream, args.In<T>(), args.CopyOut<T>());
  });
}

}  // namespace stridewise
