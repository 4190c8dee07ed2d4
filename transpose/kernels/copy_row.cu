// A copy with one thread an element, neighbouring threads along a row: both sides coalesced. The
// upper bound of the studies, and with 4-byte elements and 16x16 blocks about half of what memory
// can do: too few bytes in flight.

#include "common/launch.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

template <typename T>
__global__ void CopyRowKernel(ConstMatrix<T> in, Matrix<T> out) {
  const int64_t row = BlockRow() * blockDim.y + threadIdx.y;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < in.rows && col < in.cols) out(row, col) = in(row, col);
}

}  // namespace

absl::Status CopyRow(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return Launch(CopyRowKernel<T>, TileGrid(args.rows, args.cols, block.y, block.x), block, 0,
                  args.stream, args.In<T>(), args.CopyOut<T>());
  });
}

}  // namespace stridewise
