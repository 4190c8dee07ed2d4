// Step 6: each thread computes eight elements of C, one below the other.
//
// `tiled` is limited by shared memory: it has two loads for each fma, and a multiprocessor starts
// the fma of four warps in the clock that the load of one warp takes. This step is faster because
// it reuses registers: an element of B, once it is in a register, is multiplied by eight elements
// of A, which makes 9 loads for 8 fma instead of 16. The elements of A are the same for all lanes
// of a warp and neighbours along k, so nvcc also merges four of their loads into one of 16 bytes.

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/tile_edges.h"

namespace stridewise {
namespace {

// A block computes kRows x kCols elements of C, from kDepth columns of A and rows of B at a time.
template <int kRowsOfTile, int kColsOfTile, int kDepthOfTile, int kThreadResults>
struct Shape {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kDepth = kDepthOfTile;
  static constexpr int kResults = kThreadResults;
  static constexpr int kThreads = kRows * kCols / kResults;
  static_assert(kRows % kResults == 0, "a thread's results lie in one tile");
  static_assert(kCols % 32 == 0, "a warp lies along a row: its elements of A are broadcasts");
  static_assert(kRows * kDepth == kThreads, "a thread loads one element of A");
  static_assert(kDepth * kCols == kThreads, "a thread loads one element of B");
};

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads)
    RegisterTile1D(ConstMatrix<float> a, ConstMatrix<float> b, Matrix<float> c) {
  __shared__ float a_tile[Tile::kRows][Tile::kDepth];
  __shared__ float b_tile[Tile::kDepth][Tile::kCols];
  const int thread = threadIdx.x;
  const int64_t first_row = BlockRow() * Tile::kRows;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * Tile::kCols;
  // The elements that the thread loads, and in row and col those of C that it computes.
  const int a_row = thread / Tile::kDepth;
  const int a_col = thread % Tile::kDepth;
  const int b_row = thread / Tile::kCols;
  const int row = thread / Tile::kCols * Tile::kResults;
  const int col = thread % Tile::kCols;

  float accumulators[Tile::kResults] = {};
  for (int64_t first = 0; first < a.cols; first += Tile::kDepth) {
    a_tile[a_row][a_col] = LoadOrZero(a, first_row + a_row, first + a_col);
    b_tile[b_row][col] = LoadOrZero(b, first + b_row, first_col + col);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile::kDepth; ++i) {
      const float b_element = b_tile[i][col];
#pragma unroll
      for (int r = 0; r < Tile::kResults; ++r) {
        accumulators[r] = fma(a_tile[row + r][i], b_element, accumulators[r]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < Tile::kResults; ++r) {
    StoreInside(c, first_row + row + r, first_col + col, accumulators[r]);
  }
}

}  // namespace

LaunchStatus MatMulRegisterTile1D(const MatMulArgs& args) {
  using Tile = Shape<64, 64, 8, 8>;
  return Launch(RegisterTile1D<Tile>, TileGrid(args.m, args.n, Tile::kRows, Tile::kCols),
                Block{Tile::kThreads}, 0, args.stream, args.A<float>(), args.B<float>(),
                args.C<float>());
}

}  // namespace stridewise
