// Steps 15, 16 and 17: a tile of block.y rows and 2 * block.x columns in dynamic shared memory.
// Each thread moves two elements, so that two loads are in flight, and the caller chooses the
// block: this is the kernel whose best block shape the studies searched for. The padding is a
// parameter: none (tile_unroll2_dynamic), one column (..._padded_dynamic) and two
// (..._padded2_dynamic). In a 32x16 block a warp reads two columns of the tile; one column of
// padding then leaves two elements in most banks, and two columns of padding one in each.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

constexpr int kUnroll = 2;

template <typename In, typename Out>
__global__ void TileUnroll2Dynamic(In in, Out out, int padding) {
  using Index = typename In::Index;
  using T = typename Out::Element;
  // C++ wants one type for all instances of the template.
  extern __shared__ Bits128 shared[];
  T* tile = reinterpret_cast<T*>(shared);
  const int width = kUnroll * blockDim.x + padding;
  const Index first_row = BlockRow<Index>() * blockDim.y;
  const Index first_col = static_cast<Index>(blockIdx.x) * blockDim.x * kUnroll;

  const Index row = first_row + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const int x = threadIdx.x + i * blockDim.x;
    if (row < in.rows && first_col + x < in.cols) {
      tile[threadIdx.y * width + x] = in(row, first_col + x);
    }
  }
  __syncthreads();

  // The same threads, rearranged as the transposed tile: block.x rows of block.y, twice.
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int out_x = thread % blockDim.y;
  const Index out_col = first_row + out_x;
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const int out_y = thread / blockDim.y + i * blockDim.x;
    if (first_col + out_y < in.cols && out_col < in.rows) {
      out(first_col + out_y, out_col) = tile[out_x * width + out_y];
    }
  }
}

LaunchStatus LaunchTileUnroll2Dynamic(const TransposeArgs& args, int padding) {
  const Block& block = args.block;
  const int64_t elements = block.y * (kUnroll * block.x + padding);
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(TileUnroll2Dynamic<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, block.y, kUnroll * block.x), block,
                  static_cast<size_t>(elements) * sizeof(*out.data), args.stream, in, out, padding);
  });
}

}  // namespace

LaunchStatus TransposeTileUnroll2Dynamic(const TransposeArgs& args) {
  return LaunchTileUnroll2Dynamic(args, 0);
}

LaunchStatus TransposeTileUnroll2PaddedDynamic(const TransposeArgs& args) {
  return LaunchTileUnroll2Dynamic(args, 1);
}

LaunchStatus TransposeTileUnroll2Padded2Dynamic(const TransposeArgs& args) {
  return LaunchTileUnroll2Dynamic(args, 2);
}

}  // namespace stridewise
