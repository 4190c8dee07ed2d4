// Step 3: a copy through a tile of shared memory, without bank conflicts and without exchanging
// rows and columns: tile_unrolled (step 18) less the transpose. What it loses against copy_vector
// (step 4, CopyVectorised() in common/gpu/device_ops.cu) is the cost of the detour.
//
// Beside it `copy_shared_square`: the same copy with one thread an element, which bounds
// tile_square (steps 11 and 12) as copy_shared bounds tile_unrolled.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;

// Of blocks of kTile x kRows threads.
template <int kRows, typename In, typename Out>
__global__ void CopySharedKernel(In in, Out out) {
  static_assert(kTile % kRows == 0, "each thread copies a whole number of elements");
  using Index = typename In::Index;
  using T = typename Out::Element;
  __shared__ T tile[kTile][kTile + 1];
  const Index first_row = BlockRow<Index>() * kTile;
  const Index col = static_cast<Index>(blockIdx.x) * kTile + threadIdx.x;
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

template <int kRows>
LaunchStatus LaunchCopyShared(const TransposeArgs& args) {
  return ForCopyViews(args, [&](auto in, auto out) {
    return Launch(CopySharedKernel<kRows, decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, kTile, kTile), Block{kTile, kRows}, 0, args.stream,
                  in, out);
  });
}

}  // namespace

LaunchStatus CopyShared(const TransposeArgs& args) { return LaunchCopyShared<8>(args); }

LaunchStatus CopySharedSquare(const TransposeArgs& args) { return LaunchCopyShared<32>(args); }

}  // namespace stridewise
