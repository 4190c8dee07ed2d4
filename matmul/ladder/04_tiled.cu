// Steps 4 and 5: a block of threads computes a 32x32 tile of C through shared memory. Beside them
// the same kernel with narrower tiles.
//
// This is faster than step 3 because of reuse: the block loads a tile of A and a tile of B into
// shared memory, each element of them is used 32 times from there, and traffic from global memory
// falls by that factor. What limits it now is shared memory: two loads, one of them a broadcast,
// for each fma.
//
// Step 4 rounds every product before it is added, with two instructions where the fma of step 5 has
// one.
//
// The width of the tile decides the reuse: of 1, 8 or 16, each element is used that number of
// times. A tile of width 1 is the naive kernel with one thread a block: it loads the same sectors
// from global memory (matmul_memory_test), and passes each element through shared memory besides.
//
// At the edges of the matrices tiles are padded with zeros, by row and by column. A check of the
// index into the whole array, as in the classroom version, would let elements of the next row in. A
// zero adds nothing unless the other factor is Inf or NaN, but both tiles are padded at the same k,
// so that padding only ever meets padding.

#include "common/gpu/launch.h"
#include "matmul/args.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;

__device__ inline float MultiplyThenAdd(float a, float b, float sum) {
  return __fadd_rn(__fmul_rn(a, b), sum);
}
__device__ inline double MultiplyThenAdd(double a, double b, double sum) {
  return __dadd_rn(__dmul_rn(a, b), sum);
}

template <typename T, bool kFused, int kWidth>
__global__ void Tiled(ConstMatrix<T> a, ConstMatrix<T> b, Matrix<T> c) {
  __shared__ T a_tile[kWidth][kWidth];
  __shared__ T b_tile[kWidth][kWidth];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int64_t row = BlockRow() * kWidth + y;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kWidth + x;

  T sum = 0;
  for (int64_t first = 0; first < a.cols; first += kWidth) {
    a_tile[y][x] = row < c.rows && first + x < a.cols ? a(row, first + x) : T(0);
    b_tile[y][x] = first + y < b.rows && col < c.cols ? b(first + y, col) : T(0);
    __syncthreads();
    for (int i = 0; i < kWidth; ++i) {
      // At width 32 a warp has one y and 32 values of x: a_tile is a broadcast, b_tile touches each
      // bank once.
      sum = kFused ? fma(a_tile[y][i], b_tile[i][x], sum)
                   : MultiplyThenAdd(a_tile[y][i], b_tile[i][x], sum);
    }
    __syncthreads();
  }
  if (row < c.rows && col < c.cols) c(row, col) = sum;
}

template <bool kFused>
LaunchStatus LaunchTiled(const MatMulArgs& args) {
  return ForElementType(args, [&](auto element) {
    using T = decltype(element);
    return Launch(Tiled<T, kFused, kTile>, TileGrid(args.m, args.n, kTile, kTile),
                  Block{kTile, kTile}, 0, args.stream, args.A<T>(), args.B<T>(), args.C<T>());
  });
}

template <int kWidth>
LaunchStatus LaunchTileWidth(const MatMulArgs& args) {
  return Launch(Tiled<float, true, kWidth>, TileGrid(args.m, args.n, kWidth, kWidth),
                Block{kWidth, kWidth}, 0, args.stream, args.A<float>(), args.B<float>(),
                args.C<float>());
}

}  // namespace

LaunchStatus MatMulTiled(const MatMulArgs& args) { return LaunchTiled<true>(args); }

// Step 4: what `a * b + sum` means where the compiler may not contract it to an fma.
LaunchStatus MatMulTiledMultiplyAdd(const MatMulArgs& args) { return LaunchTiled<false>(args); }

LaunchStatus MatMulTileWidth1(const MatMulArgs& args) { return LaunchTileWidth<1>(args); }
LaunchStatus MatMulTileWidth8(const MatMulArgs& args) { return LaunchTileWidth<8>(args); }
LaunchStatus MatMulTileWidth16(const MatMulArgs& args) { return LaunchTileWidth<16>(args); }

}  // namespace stridewise
