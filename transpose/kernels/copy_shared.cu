// A copy through a tile of shared memory, without conflicts and without an exchange of rows and
// columns: `tile_unrolled` less the transpose. What it loses against copy_vector is what the detour
// costs.

#include "common/launch.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;
constexpr int kRows = 8;
static_assert(kTile % kRows == 0, "each thread copies a whole number of elements");

template <typename T>
__global__ void CopySharedKernel(ConstMatrix<T> in, Matrix<T> out) {
  __shared__ T tile[kTile][kTile + 1];
  const int64_t first_row = BlockRow() * kTile;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kTile + threadIdx.x;
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kRows) {
    if (first_row + y < in.rows && col < in.cols) tile[y][threadIdx.x] = in(first_row + y, col);
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kRows) {
    if (first_row + y < in.rows && col < in.cols) out(first_row + y, col) = tile[y][threadIdx.x];
  }
}

}  // namespace

absl::Status CopyShared(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return Launch(CopySharedKernel<T>, TileGrid(args.rows, args.cols, kTile, kTile),
                  Block{kTile, kRows}, 0, args.stream, args.In<T>(), args.CopyOut<T>());
  });
}

}  // namespace stridewise
