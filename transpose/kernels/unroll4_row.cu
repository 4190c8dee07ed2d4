// naive_row with four elements a thread, a block's width apart. The loads are independent, so four
// are in flight; but so are four strided stores, and those are the bottleneck. Columns beyond the
// last multiple of four blocks are handled one by one.

#include "common/launch.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

constexpr int kUnroll = 4;

template <typename T>
__global__ void Unroll4Row(ConstMatrix<T> in, Matrix<T> out) {
  const int64_t row = BlockRow() * blockDim.y + threadIdx.y;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x * kUnroll + threadIdx.x;
  if (row >= in.rows) return;
  T value[kUnroll];
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const int64_t col = first + i * blockDim.x;
    if (col < in.cols) value[i] = in(row, col);
  }
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const int64_t col = first + i * blockDim.x;
    if (col < in.cols) out(col, row) = value[i];
  }
}

}  // namespace

absl::Status TransposeUnroll4Row(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return Launch(Unroll4Row<T>, TileGrid(args.rows, args.cols, block.y, kUnroll * block.x), block,
                  0, args.stream, args.In<T>(), args.Out<T>());
  });
}

}  // namespace stridewise
