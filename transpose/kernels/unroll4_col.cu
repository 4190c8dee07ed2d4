// naive_col with four elements a thread, a block's width apart: four strided loads in flight, four
// coalesced stores. Columns beyond the last multiple of four blocks are handled one by one.

#include "common/launch.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

constexpr int kUnroll = 4;

// Row and column are those of `out`.
template <typename T>
__global__ void Unroll4Col(ConstMatrix<T> in, Matrix<T> out) {
  const int64_t row = BlockRow() * blockDim.y + threadIdx.y;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x * kUnroll + threadIdx.x;
  if (row >= out.rows) return;
  T value[kUnroll];
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const int64_t col = first + i * blockDim.x;
    if (col < out.cols) value[i] = in(col, row);
  }
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const int64_t col = first + i * blockDim.x;
    if (col < out.cols) out(row, col) = value[i];
  }
}

}  // namespace

absl::Status TransposeUnroll4Col(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return Launch(Unroll4Col<T>, TileGrid(args.cols, args.rows, block.y, kUnroll * block.x), block,
                  0, args.stream, args.In<T>(), args.Out<T>());
  });
}

}  // namespace stridewise
