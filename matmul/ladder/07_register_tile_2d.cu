// Step 7: each thread computes 8x8 elements of C. 8 elements of A and 8 of B, once in registers,
// give 64 products.
//
// `register_tile_1d` still has more loads than fma. Here there are 16 loads for 64 fma. A warp's 64
// fma keep the four schedulers of a multiprocessor busy for 16 clocks, just the time in which
// shared memory serves 16 loads. The price is registers: 64 for the accumulators alone, which
// leaves room for two blocks of 256 threads.
//
// A thread's rows lie 16 apart, and so do its columns. The 16 columns of a warp are then neighbours
// in shared memory, its two rows are two addresses, and no load has a bank conflict.

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/tile_edges.h"

namespace stridewise {
namespace {

// A block computes kRows x kCols elements of C, from kDepth columns of A and rows of B at a time,
// and a thread kThreadRows x kThreadCols of them.
template <int kRowsOfTile, int kColsOfTile, int kDepthOfTile, int kRowsOfThread, int kColsOfThread>
struct Shape {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kDepth = kDepthOfTile;
  static constexpr int kThreadRows = kRowsOfThread;
  static constexpr int kThreadCols = kColsOfThread;
  static constexpr int kRowStep = kRows / kThreadRows;  // Between the rows of a thread.
  static constexpr int kColStep = kCols / kThreadCols;
  static constexpr int kThreads = kRowStep * kColStep;
  static constexpr int kLoadsOfA = kRows * kDepth / kThreads;  // By each thread.
  static constexpr int kLoadsOfB = kDepth * kCols / kThreads;
  static_assert(kRowStep * kThreadRows == kRows, "threads have equal numbers of rows");
  static_assert(kColStep * kThreadCols == kCols, "threads have equal numbers of columns");
  static_assert(kLoadsOfA * kThreads == kRows * kDepth, "threads load equal parts of A");
  static_assert(kLoadsOfB * kThreads == kDepth * kCols, "threads load equal parts of B");
};

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads, 2)
    RegisterTile2D(ConstMatrix<float> a, ConstMatrix<float> b, Matrix<float> c) {
  __shared__ float a_tile[Tile::kRows][Tile::kDepth];
  __shared__ float b_tile[Tile::kDepth][Tile::kCols];
  const int thread = threadIdx.x;
  const int64_t first_row = BlockRow() * Tile::kRows;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * Tile::kCols;
  const int row = thread / Tile::kColStep;
  const int col = thread % Tile::kColStep;

  float accumulators[Tile::kThreadRows][Tile::kThreadCols] = {};
  for (int64_t first = 0; first < a.cols; first += Tile::kDepth) {
#pragma unroll
    for (int i = 0; i < Tile::kLoadsOfA; ++i) {
      const int y = (thread + i * Tile::kThreads) / Tile::kDepth;
      const int x = (thread + i * Tile::kThreads) % Tile::kDepth;
      a_tile[y][x] = LoadOrZero(a, first_row + y, first + x);
    }
#pragma unroll
    for (int i = 0; i < Tile::kLoadsOfB; ++i) {
      const int y = (thread + i * Tile::kThreads) / Tile::kCols;
      const int x = (thread + i * Tile::kThreads) % Tile::kCols;
      b_tile[y][x] = LoadOrZero(b, first + y, first_col + x);
    }
    __syncthreads();
#pragma unroll 2  // Unrolled further, nvcc merges more loads of A than there are registers for.
    for (int i = 0; i < Tile::kDepth; ++i) {
      float a_part[Tile::kThreadRows];
      float b_part[Tile::kThreadCols];
#pragma unroll
      for (int r = 0; r < Tile::kThreadRows; ++r) a_part[r] = a_tile[row + r * Tile::kRowStep][i];
#pragma unroll
      for (int s = 0; s < Tile::kThreadCols; ++s) b_part[s] = b_tile[i][col + s * Tile::kColStep];
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
    for (int s = 0; s < Tile::kThreadCols; ++s) {
      StoreInside(c, first_row + row + r * Tile::kRowStep, first_col + col + s * Tile::kColStep,
                  accumulators[r][s]);
    }
  }
}

}  // namespace

LaunchStatus MatMulRegisterTile2D(const MatMulArgs& args) {
  using Tile = Shape<128, 128, 8, 8, 8>;
  return Launch(RegisterTile2D<Tile>, TileGrid(args.m, args.n, Tile::kRows, Tile::kCols),
                Block{Tile::kThreads}, 0, args.stream, args.A<float>(), args.B<float>(),
                args.C<float>());
}

}  // namespace stridewise
