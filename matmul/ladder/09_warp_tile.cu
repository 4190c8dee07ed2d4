// Step 9: each warp computes a compact part of the block's tile, and its lanes are arranged so that
// their loads take the fewest passes through the banks of shared memory.
//
// In `vectorized` a warp's four loads for one k, 64 fma a thread, take 20 passes (wavefronts): 2 x
// 8 for B, half of them bank conflicts, and 2 x 2 for A. A multiprocessor has 16 clocks for them.
// This step is faster because they take 8:
//
// - A warp computes 32 x 64 elements, which need 96 elements of A and B for each k. Those of the
//   step before, 16 x 128, need 144.
// - A thread's 8x8 elements are four quarters of 4x4, half of the warp's part apart. Eight
//   lanes that load B together then load neighbouring vectors, 128 bytes: each bank once.
// - Loads of 16 bytes are served by quarters of a warp, but by halves where every lane l loads the
//   same as lane l ^ 1, or every lane the same as lane l ^ 2 (common/executor/coalescer.h). So bit
//   0 of the lane selects among rows and bit 1 among columns: loads of B are of the first kind,
//   loads of A of the second. With lanes in row-major order it would be 12 wavefronts. CUTLASS has
//   the same order for its kernels of this kind (RowMajorInterleaved<2>).
//
// A's tile has rows of 128 + 4 floats: a warp stores the elements of 16 rows at k and at k + 4,
// which would lie in the same banks without the padding.

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/tile_edges.h"
#include "matmul/device/vector_access.h"

namespace stridewise {
namespace {

// A block computes kRows x kCols elements of C, from kDepth columns of A and rows of B at a time,
// and a warp kWarpRows x kWarpCols of them.
template <int kRowsOfTile, int kColsOfTile, int kDepthOfTile, int kRowsOfWarp, int kColsOfWarp>
struct Shape {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kDepth = kDepthOfTile;
  static constexpr int kWarpRows = kRowsOfWarp;
  static constexpr int kWarpCols = kColsOfWarp;
  static constexpr int kHalfRows = kWarpRows / 2;  // Between a thread's quarters.
  static constexpr int kHalfCols = kWarpCols / 2;
  static constexpr int kPitch = kRows + kVector;  // The row length of A's tile.
  static constexpr int kThreads = kRows / kWarpRows * (kCols / kWarpCols) * kWarpSize;
  static_assert(kRows % kWarpRows == 0 && kCols % kWarpCols == 0, "warps fill the tile");
  static_assert(kHalfRows == 4 * kVector && kHalfCols == 8 * kVector,
                "4 x 8 lanes, each with a vector of rows and one of columns");
  static_assert(kDepth == 2 * kVector, "the padding is for two vectors of a row of A");
  static_assert(kRows * kDepth == kThreads * kVector, "a thread loads one vector of A");
  static_assert(kDepth * kCols == kThreads * kVector, "a thread loads one vector of B");
};

template <typename Tile, bool kVectorsOfA, bool kVectorsOfB>
__global__ void __launch_bounds__(Tile::kThreads, 2)
    WarpTile(ConstMatrix<float> a, ConstMatrix<float> b, Matrix<float> c) {
  __shared__ __align__(16) float a_tile[Tile::kDepth][Tile::kPitch];
  __shared__ __align__(16) float b_tile[Tile::kDepth][Tile::kCols];
  const int thread = threadIdx.x;
  const int64_t first_row = BlockRow() * Tile::kRows;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * Tile::kCols;
  // The vectors that the thread loads.
  const int a_row = thread / (Tile::kDepth / kVector);
  const int a_col = thread % (Tile::kDepth / kVector) * kVector;
  const int b_row = thread / (Tile::kCols / kVector);
  const int b_col = thread % (Tile::kCols / kVector) * kVector;
  // The elements of C that it computes: four rows and columns from here, and four that lie half of
  // the warp's part further on.
  const int warp = thread / kWarpSize;
  const int lane = thread % kWarpSize;
  const int lane_row = lane / 16 * 2 + lane % 2;
  const int lane_col = lane / 2 % 8;
  const int row = warp / (Tile::kCols / Tile::kWarpCols) * Tile::kWarpRows + lane_row * kVector;
  const int col = warp % (Tile::kCols / Tile::kWarpCols) * Tile::kWarpCols + lane_col * kVector;

  float accumulators[8][8] = {};
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
      float a_part[8];
      float b_part[8];
      LoadFour(&a_tile[i][row], &a_part[0]);
      LoadFour(&a_tile[i][row + Tile::kHalfRows], &a_part[4]);
      LoadFour(&b_tile[i][col], &b_part[0]);
      LoadFour(&b_tile[i][col + Tile::kHalfCols], &b_part[4]);
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) {
          accumulators[r][s] = fma(a_part[r], b_part[s], accumulators[r][s]);
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const int64_t c_row = first_row + row + r / 4 * Tile::kHalfRows + r % 4;
    StoreFourInside(c, c_row, first_col + col, &accumulators[r][0]);
    StoreFourInside(c, c_row, first_col + col + Tile::kHalfCols, &accumulators[r][4]);
  }
}

}  // namespace

LaunchStatus MatMulWarpTile(const MatMulArgs& args) {
  using Tile = Shape<128, 128, 8, 32, 64>;
  const ConstMatrix<float> a = args.A<float>();
  const ConstMatrix<float> b = args.B<float>();
  const auto kernel =
      IsMadeOfVectors(a)
          ? (IsMadeOfVectors(b) ? WarpTile<Tile, true, true> : WarpTile<Tile, true, false>)
          : (IsMadeOfVectors(b) ? WarpTile<Tile, false, true> : WarpTile<Tile, false, false>);
  return Launch(kernel, TileGrid(args.m, args.n, Tile::kRows, Tile::kCols), Block{Tile::kThreads},
                0, args.stream, a, b, args.C<float>());
}

}  // namespace stridewise
