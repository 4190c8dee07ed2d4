// Each warp has a part of the block's tile, and its lanes lie so that those that load together find
// what they want in as few passes through the banks as there can be.
//
// In `vectorized` a warp's four loads for a step along k, 64 fma a thread, take 20 wavefronts of
// shared memory: 2 x 8 for B, half of them bank conflicts, and 2 x 2 for A. A multiprocessor has 16
// clocks for them. Here they take 8:
//
// - A warp makes 32 x 64 elements: 96 of A and B for each k instead of 16 + 128 = 144.
// - A thread's 8x8 elements are four quarters of 4x4, half of the warp's part apart: eight lanes
//   that load B together find eight vectors side by side, 128 bytes, each bank once.
// - Loads of 16 bytes go by quarters of a warp, but by halves where every lane l asks for the same
//   as lane l ^ 1, or every lane for the same as lane l ^ 2 (common/executor/coalescer.h). So bit 0
//   of the lane chooses among rows and bit 1 among columns: loads of B are of the first kind, loads
//   of A of the second. With lanes in row-major order it would be 12 wavefronts. CUTLASS has the
//   same order for its kernels of this kind (RowMajorInterleaved<2>).
//
// A's tile has rows of 128 + 4 floats: a warp stores 16 rows' elements at k and k + 4, which
// without the padding would lie in the same banks.

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/tile_edges.h"

namespace stridewise {
namespace {

constexpr int kWarpSize = 32;

// A block makes kRows x kCols elements of C, from kDepth columns of A and rows of B at a time; a
// warp kWarpRows x kWarpCols of them.
template <int kRowsOfTile, int kColsOfTile, int kDepthOfTile, int kRowsOfWarp, int kColsOfWarp>
struct Shape {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kDepth = kDepthOfTile;
  static constexpr int kWarpRows = kRowsOfWarp;
  static constexpr int kWarpCols = kColsOfWarp;
  static constexpr int kHalfRows = kWarpRows / 2;  // From a thread's quarters to its next ones.
  static constexpr int kHalfCols = kWarpCols / 2;
  static constexpr int kPitch = kRows + kVectorFloats;  // Of A's tile.
  static constexpr int kThreads = kRows / kWarpRows * (kCols / kWarpCols) * kWarpSize;
  static_assert(kRows % kWarpRows == 0 && kCols % kWarpCols == 0, "warps fill the tile");
  static_assert(kHalfRows == 4 * kVectorFloats && kHalfCols == 8 * kVectorFloats,
                "4 x 8 lanes, each with a vector of rows and one of columns");
  static_assert(kDepth == 2 * kVectorFloats, "the padding is for two vectors of a row of A");
  static_assert(kRows * kDepth == kThreads * kVectorFloats, "a thread brings one vector of A");
  static_assert(kDepth * kCols == kThreads * kVectorFloats, "a thread brings one vector of B");
};

template <typename Tile, bool kVectorsOfA, bool kVectorsOfB>
__global__ void __launch_bounds__(Tile::kThreads, 2)
    WarpTile(ConstMatrix<float> a, ConstMatrix<float> b, Matrix<float> c) {
  __shared__ __align__(16) float a_tile[Tile::kDepth][Tile::kPitch];
  __shared__ __align__(16) float b_tile[Tile::kDepth][Tile::kCols];
  const int thread = threadIdx.x;
  const int64_t first_row = BlockRow() * Tile::kRows;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * Tile::kCols;
  // What the thread brings.
  const int a_row = thread / (Tile::kDepth / kVectorFloats);
  const int a_col = thread % (Tile::kDepth / kVectorFloats) * kVectorFloats;
  const int b_row = thread / (Tile::kCols / kVectorFloats);
  const int b_col = thread % (Tile::kCols / kVectorFloats) * kVectorFloats;
  // What it computes: four rows and columns from here, and four that are half a warp's part on.
  const int warp = thread / kWarpSize;
  const int lane = thread % kWarpSize;
  const int lane_row = lane / 16 * 2 + lane % 2;
  const int lane_col = lane / 2 % 8;
  const int row =
      warp / (Tile::kCols / Tile::kWarpCols) * Tile::kWarpRows + lane_row * kVectorFloats;
  const int col =
      warp % (Tile::kCols / Tile::kWarpCols) * Tile::kWarpCols + lane_col * kVectorFloats;

  float sum[8][8] = {};
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
      float a_part[8];
      float b_part[8];
      LoadFour(&a_tile[i][row], &a_part[0]);
      LoadFour(&a_tile[i][row + Tile::kHalfRows], &a_part[4]);
      LoadFour(&b_tile[i][col], &b_part[0]);
      LoadFour(&b_tile[i][col + Tile::kHalfCols], &b_part[4]);
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) sum[r][s] = fma(a_part[r], b_part[s], sum[r][s]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const int64_t c_row = first_row + row + r / 4 * Tile::kHalfRows + r % 4;
    StoreFourInside(c, c_row, first_col + col, &sum[r][0]);
    StoreFourInside(c, c_row, first_col + col + Tile::kHalfCols, &sum[r][4]);
  }
}

}  // namespace

absl::Status MatMulWarpTile(const MatMulArgs& args) {
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
