// Eight elements of C a thread, one below the other.
//
// `tiled` is bound by shared memory: two loads for each fma, where a multiprocessor starts four
// warps' fma in the clock that one warp's load takes. Here an element of B, once in a register,
// meets eight of A: 9 loads for 8 fma in place of 16. The elements of A are the same for all lanes
// of a warp, and neighbours along k, so that nvcc takes four of them in one load of 16 bytes.

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/tile_edges.h"

namespace stridewise {
namespace {

// A block makes kRows x kCols elements of C, from kDepth columns of A and rows of B at a time.
template <int kRowsOfTile, int kColsOfTile, int kDepthOfTile, int kResultsOfThread>
struct Shape {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kDepth = kDepthOfTile;
  static constexpr int kResults = kResultsOfThread;
  static constexpr int kThreads = kRows * kCols / kResults;
  static_assert(kRows % kResults == 0, "a thread's results lie in one tile");
  static_assert(kCols % 32 == 0, "a warp lies along a row: its elements of A are broadcasts");
  static_assert(kRows * kDepth == kThreads, "a thread brings one element of A");
  static_assert(kDepth * kCols == kThreads, "a thread brings one element of B");
};

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads)
    RegisterTile1D(ConstMatrix<float> a, ConstMatrix<float> b, Matrix<float> c) {
  __shared__ float a_tile[Tile::kRows][Tile::kDepth];
  __shared__ float b_tile[Tile::kDepth][Tile::kCols];
  const int thread = threadIdx.x;
  const int64_t first_row = BlockRow() * Tile::kRows;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * Tile::kCols;
  // What the thread brings, and in row and col what it computes.
  const int a_row = thread / Tile::kDepth;
  const int a_col = thread % Tile::kDepth;
  const int b_row = thread / Tile::kCols;
  const int row = thread / Tile::kCols * Tile::kResults;
  const int col = thread % Tile::kCols;

  float sum[Tile::kResults] = {};
  for (int64_t first = 0; first < a.cols; first += Tile::kDepth) {
    a_tile[a_row][a_col] = LoadOrZero(a, first_row + a_row, first + a_col);
    b_tile[b_row][col] = LoadOrZero(b, first + b_row, first_col + col);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile::kDepth; ++i) {
      const float b_element = b_tile[i][col];
#pragma unroll
      for (int r = 0; r < Tile::kResults; ++r) {
        sum[r] = fma(a_tile[row + r][i], b_element, sum[r]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < Tile::kResults; ++r) {
    StoreInside(c, first_row + row + r, first_col + col, sum[r]);
  }
}

}  // namespace

absl::Status MatMulRegisterTile1D(const MatMulArgs& args) {
  using Tile = Shape<64, 64, 8, 8>;
  return Launch(RegisterTile1D<Tile>, TileGrid(args.m, args.n, Tile::kRows, Tile::kCols),
                Block{Tile::kThreads}, 0, args.stream, args.A<float>(), args.B<float>(),
                args.C<float>());
}

}  // namespace stridewise
