// Step 12: copies that run ahead, and the instruction itself.
//
// This is faster than step 11 for three reasons. Tiles of 128x128 are read half as often. cp.async
// copies them to shared memory without a register in between, two tiles ahead of the one that is
// multiplied. And mma.sync takes fragments whose layout is documented, so that ldmatrix fills them
// with four 8x8 matrices an instruction and C leaves from the registers that it was summed in.
//
// What limits it now is that the warps do everything themselves: they compute addresses, issue the
// copies and wait for them at a barrier of the whole block.

#include <cuda_bf16.h>
#include <cuda_pipeline.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/mma/mma_sm80.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor_copy.h"

namespace stridewise {
namespace {

using T = __nv_bfloat16;
using Mma = WarpMma<T>;

constexpr int kTile = 128;
constexpr int kTileK = 32;
constexpr int kStages = 3;
constexpr int kThreads = 256;
// A warp computes 64x32 of C: four fragments of A and two loads of B for 16 instructions mma.
constexpr int kWarpRows = 64;
constexpr int kWarpCols = 32;

// Rows of 80 and 272 bytes: the eight rows that ldmatrix loads together lie in different banks.
struct Stage {
  __align__(16) T a[kTile][kTileK + 8];
  __align__(16) T b[kTileK][kTile + 8];
};

// Starts the copies of one stage.
__device__ inline void CopyStage(const TensorSource<T>& a, const TensorSource<T>& b, int64_t row,
                                 int64_t col, int64_t k, Stage& to) {
  CopyTile<kTile, kTileK, kThreads>(a, row, k, [&](int r, int c) { return &to.a[r][c]; });
  CopyTile<kTileK, kTile, kThreads>(b, k, col, [&](int r, int c) { return &to.b[r][c]; });
}

// Adds the product of one stage to a warp's accumulators.
__device__ inline void MultiplyStage(const Stage& stage, int warp_row, int warp_col,
                                     Mma::Accumulator (&d)[4][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int k = 0; k < kTileK; k += Mma::kK) {
    Mma::FragmentA of_a[4];
    uint32_t of_b[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      LoadMatrices(SharedAddress(&stage.a[warp_row + i * Mma::kM + lane % 16][k + lane / 16 * 8]),
                   of_a[i]);
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      LoadTransposedMatrices(
          SharedAddress(&stage.b[k + lane % 16][warp_col + j * 16 + lane / 16 * 8]), of_b[j]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const Mma::FragmentB pair = {of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]};
        Mma::Multiply(of_a[i], pair, d[i][j]);
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    MmaSync(TensorSource<T> a, TensorSource<T> b, Matrix<T> c) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ uint4 memory[];
  auto* const stages = reinterpret_cast<Stage*>(memory);
  const int64_t first_row = BlockRow() * kTile;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * kTile;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp / 4 * kWarpRows;
  const int warp_col = warp % 4 * kWarpCols;
  const int steps = static_cast<int>((a.matrix.cols + kTileK - 1) / kTileK);

  Mma::Accumulator d[4][4] = {};
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) {
    if (i < steps) {
      CopyStage(a, b, first_row, first_col, static_cast<int64_t>(i) * kTileK, stages[i]);
    }
    __pipeline_commit();
  }
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();  // The stage has arrived, and the one before has been read.
    const int next = step + kStages - 1;
    if (next < steps) {
      CopyStage(a, b, first_row, first_col, static_cast<int64_t>(next) * kTileK,
                stages[next % kStages]);
    }
    __pipeline_commit();
    MultiplyStage(stages[step % kStages], warp_row, warp_col, d);
  }
#pragma unroll
  for (int e = 0; e < 64; ++e) {
    const int64_t r = first_row + warp_row + e / 16 * Mma::kM + e / 2 % 2 * 8 + lane / 4;
    const int64_t s = first_col + warp_col + e / 4 % 4 * Mma::kN + lane % 4 * 2 + e % 2;
    if (r < c.rows && s < c.cols) c(r, s) = static_cast<T>(d[e / 16][e / 4 % 4][e % 4]);
  }
#endif
}

}  // namespace

LaunchStatus MatMulMmaSync(const MatMulArgs& args) {
  return Launch(MmaSync, TileGrid(args.m, args.n, kTile, kTile), Block{kThreads},
                kStages * sizeof(Stage), args.stream, TensorSource<T>(args.A<T>()),
                TensorSource<T>(args.B<T>()), args.C<T>());
}

}  // namespace stridewise
