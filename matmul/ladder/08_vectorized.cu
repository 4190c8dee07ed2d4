// register_tile_2d in vectors of 16 bytes, from global memory and from shared memory.
//
// There a step along k takes 16 loads for 64 fma, less what nvcc merges, and a tile eight loads and
// eight stores. A's tile is now kept as its transpose, so that a thread's eight elements of a
// column of A are two loads of 16 bytes, as its eight of a row of B are: 4 loads for 64 fma, and
// two loads a tile. The columns of a thread have to be neighbours for that, and the step has a flaw
// that warp_tile mends: eight lanes that load together step by 32 bytes through B's tile and find
// their 16 bytes in half of the banks.

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/tile_edges.h"

namespace stridewise {
namespace {

// A block makes kRows x kCols elements of C, from kDepth columns of A and rows of B at a time; a
// thread kThreadRows x kThreadCols of them, side by side.
template <int kRowsOfTile, int kColsOfTile, int kDepthOfTile, int kRowsOfThread, int kColsOfThread>
struct Shape {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kDepth = kDepthOfTile;
  static constexpr int kThreadRows = kRowsOfThread;
  static constexpr int kThreadCols = kColsOfThread;
  static constexpr int kThreads = kRows * kCols / (kThreadRows * kThreadCols);
  static_assert(kRows % kThreadRows == 0 && kCols % kThreadCols == 0, "threads fill the tile");
  static_assert(kThreadRows % kVectorFloats == 0, "whole vectors of A's transpose");
  static_assert(kThreadCols % kVectorFloats == 0, "whole vectors of B");
  static_assert(kDepth % kVectorFloats == 0, "whole vectors of a row of A");
  static_assert(kRows * kDepth == kThreads * kVectorFloats, "a thread brings one vector of A");
  static_assert(kDepth * kCols == kThreads * kVectorFloats, "a thread brings one vector of B");
};

template <typename Tile, bool kVectorsOfA, bool kVectorsOfB>
__global__ void __launch_bounds__(Tile::kThreads, 2)
    Vectorized(ConstMatrix<float> a, ConstMatrix<float> b, Matrix<float> c) {
  __shared__ __align__(16) float a_tile[Tile::kDepth][Tile::kRows];
  __shared__ __align__(16) float b_tile[Tile::kDepth][Tile::kCols];
  const int thread = threadIdx.x;
  const int64_t first_row = BlockRow() * Tile::kRows;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * Tile::kCols;
  // What the thread brings, and in row and col what it computes.
  const int a_row = thread / (Tile::kDepth / kVectorFloats);
  const int a_col = thread % (Tile::kDepth / kVectorFloats) * kVectorFloats;
  const int b_row = thread / (Tile::kCols / kVectorFloats);
  const int b_col = thread % (Tile::kCols / kVectorFloats) * kVectorFloats;
  const int row = thread / (Tile::kCols / Tile::kThreadCols) * Tile::kThreadRows;
  const int col = thread % (Tile::kCols / Tile::kThreadCols) * Tile::kThreadCols;

  float sum[Tile::kThreadRows][Tile::kThreadCols] = {};
  for (int64_t first = 0; first < a.cols; first += Tile::kDepth) {
    float a_four[kVectorFloats];
    float b_four[kVectorFloats];
    LoadFourOrZero<kVectorsOfA>(a, first_row + a_row, first + a_col, a_four);
    LoadFourOrZero<kVectorsOfB>(b, first + b_row, first_col + b_col, b_four);
#pragma unroll
    for (int i = 0; i < kVectorFloats; ++i) a_tile[a_col + i][a_row] = a_four[i];
    StoreFour(&b_tile[b_row][b_col], b_four);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile::kDepth; ++i) {
      float a_part[Tile::kThreadRows];
      float b_part[Tile::kThreadCols];
#pragma unroll
      for (int r = 0; r < Tile::kThreadRows; r += kVectorFloats) {
        LoadFour(&a_tile[i][row + r], &a_part[r]);
      }
#pragma unroll
      for (int s = 0; s < Tile::kThreadCols; s += kVectorFloats) {
        LoadFour(&b_tile[i][col + s], &b_part[s]);
      }
#pragma unroll
      for (int r = 0; r < Tile::kThreadRows; ++r) {
#pragma unroll
        for (int s = 0; s < Tile::kThreadCols; ++s) {
          sum[r][s] = fma(a_part[r], b_part[s], sum[r][s]);
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < Tile::kThreadRows; ++r) {
#pragma unroll
    for (int s = 0; s < Tile::kThreadCols; s += kVectorFloats) {
      StoreFourInside(c, first_row + row + r, first_col + col + s, &sum[r][s]);
    }
  }
}

}  // namespace

absl::Status MatMulVectorized(const MatMulArgs& args) {
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
