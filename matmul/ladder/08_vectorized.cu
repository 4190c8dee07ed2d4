// Step 8: `register_tile_2d` with accesses of 16 bytes, to global memory and to shared memory.
//
// In step 7 each k takes 16 loads for 64 fma, less what nvcc merges, and each tile eight loads and
// eight stores. This step is faster because it issues a quarter of these instructions: A's tile is
// stored as its transpose, so that a thread's eight elements of a column of A are two loads of 16
// bytes, and so are its eight elements of a row of B. That makes 4 loads for 64 fma, and two loads
// for a tile.
//
// The columns of a thread have to be neighbours for that, which has a flaw that `warp_tile` mends:
// the eight lanes that load together step through B's tile by 32 bytes, and find their 16 bytes in
// half of the banks.

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/tile_edges.h"
#include "matmul/device/vector_access.h"

namespace stridewise {
namespace {

// A block computes kRows x kCols elements of C, from kDepth columns of A and rows of B at a time,
// and a thread kThreadRows x kThreadCols of them, side by side.
template <int kRowsOfTile, int kColsOfTile, int kDepthOfTile, int kRowsOfThread, int kColsOfThread>
struct Shape {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kDepth = kDepthOfTile;
  static constexpr int kThreadRows = kRowsOfThread;
  static constexpr int kThreadCols = kColsOfThread;
  static constexpr int kThreads = kRows * kCols / (kThreadRows * kThreadCols);
  static_assert(kRows % kThreadRows == 0 && kCols % kThreadCols == 0, "threads fill the tile");
  static_assert(kThreadRows % kVector == 0, "whole vectors of A's transpose");
  static_assert(kThreadCols % kVector == 0, "whole vectors of B");
  static_assert(kDepth % kVector == 0, "whole vectors of a row of A");
  static_assert(kRows * kDepth == kThreads * kVector, "a thread loads one vector of A");
  static_assert(kDepth * kCols == kThreads * kVector, "a thread loads one vector of B");
};

template <typename Tile, bool kVectorsOfA, bool kVectorsOfB>
__global__ void __launch_bounds__(Tile::kThreads, 2)
    Vectorized(ConstMatrix<float> a, ConstMatrix<float> b, Matrix<float> c) {
  __shared__ __align__(16) float a_tile[Tile::kDepth][Tile::kRows];
  __shared__ __align__(16) float b_tile[Tile::kDepth][Tile::kCols];
  const int thread = threadIdx.x;
  const int64_t first_row = BlockRow() * Tile::kRows;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * Tile::kCols;
  // The vectors that the thread loads, and in row and col the elements of C that it computes.
  const int a_row = thread / (Tile::kDepth / kVector);
  const int a_col = thread % (Tile::kDepth / kVector) * kVector;
  const int b_row = thread / (Tile::kCols / kVector);
  const int b_col = thread % (Tile::kCols / kVector) * kVector;
  const int row = thread / (Tile::kCols / Tile::kThreadCols) * Tile::kThreadRows;
  const int col = thread % (Tile::kCols / Tile::kThreadCols) * Tile::kThreadCols;

  float accumulators[Tile::kThreadRows][Tile::kThreadCols] = {};
  for (int64_t first = 0; first < a.cols; first += Tile::kDepth) {
    float a_four[kVector];
    float b_four[kVector];
    LoadFourOrZero<kVectorsOfA>(a, first_row + a_row, first + a_col, a_four);
    LoadFourOrZero<kVectorsOfB>(b, first + b_row, first_col + b_col, b_four);
#pragma unroll
    for (int i = 0; i < kVector; ++i) a_tile[a_col + i][a_row] = a_four[i];
    StoreFour(&b_tile[b_row][b_col], b_four);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile::kDepth; ++i) {
      float a_part[Tile::kThreadRows];
      float b_part[Tile::kThreadCols];
#pragma unroll
      for (int r = 0; r < Tile::kThreadRows; r += kVector) {
        LoadFour(&a_tile[i][row + r], &a_part[r]);
      }
#pragma unroll
      for (int s = 0; s < Tile::kThreadCols; s += kVector) {
        LoadFour(&b_tile[i][col + s], &b_part[s]);
      }
#pragma unroll
      for (int r = 0; r < Tile::kThreadRows; ++r) {
#pragma unroll
        for (int s = 0; s < Tile::kThreadCols; ++s) {
          accumulators[r][s] = fma(a_part[r], b_part[s], accumulators[r][s]);
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < Tile::kThreadRows; ++r) {
#pragma unroll
    for (int s = 0; s < Tile::kThreadCols; s += kVector) {
      StoreFourInside(c, first_row + row + r, first_col + col + s, &accumulators[r][s]);
    }
  }
}

}  // namespace

LaunchStatus MatMulVectorized(const MatMulArgs& args) {
  using Tile = Shape<128, 128, 8, 8, 8>;
  const ConstMatrix<float> a = args.A<float>();
  const ConstMatrix<float> b = args.B<float>();
  const auto kernel =
      IsMadeOfVectors(a)
          ? (IsMadeOfVectors(b) ? Vectorized<Tile, true, true> : Vectorized<Tile, true, false>)
          : (IsMadeOfVectors(b) ? Vectorized<Tile, false, true> : Vectorized<Tile, false, false>);
  return Launch(kernel, TileGrid(args.m, args.n, Tile::kRows, Tile::kCols), Block{Tile::kThreads},
                0, args.stream, a, b, args.C<float>());
}

}  // namespace stridewise
