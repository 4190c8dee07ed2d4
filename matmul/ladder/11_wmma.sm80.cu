// Step 11: tensor cores, as CUDA C++ shows them.
//
// One call of `wmma` multiplies 16x16 by 16x16 elements with a whole warp: 8192 operations, where
// an fma of 32 lanes does 64. The call hides which lane holds which element. A block computes 64x64
// of C from BF16 tiles in shared memory, as `tiled` does from FP32, and a warp 32x32 of it with
// four accumulators in FP32.
//
// The multiplications are now so cheap that the way of the tiles to shared memory takes the time:
// nobody multiplies while a block waits for them. They come in pieces of 16 bytes. Element by
// element, through registers, the kernel ran at 30 TFLOP/s, less than FP32 on CUDA cores.

#include <cuda_bf16.h>
#include <cuda_pipeline.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/mma/wmma.h"
#include "matmul/device/tensor_copy.h"

namespace stridewise {
namespace {

constexpr int kTile = 64;
constexpr int kTileK = 32;
constexpr int kThreads = 128;
constexpr int kFragment = WarpWmma<__nv_bfloat16>::kM;  // And kN and kK.
// Rows of 80 and 144 bytes: fragments' rows begin in different banks.
constexpr int kPitchA = kTileK + 8;
constexpr int kPitchB = kTile + 8;
constexpr int kPitchC = kTile + 4;

using T = __nv_bfloat16;
using Mma = WarpWmma<T>;

__global__ void __launch_bounds__(kThreads)
    Wmma(TensorSource<T> a, TensorSource<T> b, Matrix<T> c) {
#if __CUDA_ARCH__ >= 800
  using namespace nvcuda;  // NOLINT(build/namespaces)
  __shared__ __align__(32) T tile_a[kTile][kPitchA];
  __shared__ __align__(32) T tile_b[kTileK][kPitchB];
  __shared__ __align__(32) float tile_c[kTile][kPitchC];
  const int64_t first_row = BlockRow() * kTile;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * kTile;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp / 2 * 32;
  const int warp_col = warp % 2 * 32;

  Mma::Accumulator sums[2][2];
#pragma unroll
  for (auto& row : sums) {
#pragma unroll
    for (auto& sum : row) wmma::fill_fragment(sum, 0.0f);
  }
  for (int64_t k = 0; k < a.matrix.cols; k += kTileK) {
    CopyTile<kTile, kTileK, kThreads>(a, first_row, k, [&](int r, int i) { return &tile_a[r][i]; });
    CopyTile<kTileK, kTile, kThreads>(b, k, first_col, [&](int i, int c) { return &tile_b[i][c]; });
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTileK; i += kFragment) {
      Mma::FragmentA of_a[2];
      Mma::FragmentB of_b[2];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        wmma::load_matrix_sync(of_a[j], &tile_a[warp_row + j * kFragment][i], kPitchA);
        wmma::load_matrix_sync(of_b[j], &tile_b[i][warp_col + j * kFragment], kPitchB);
      }
#pragma unroll
      for (int row = 0; row < 2; ++row) {
#pragma unroll
        for (int col = 0; col < 2; ++col) {
          Mma::Multiply(of_a[row], of_b[col], sums[row][col]);
        }
      }
    }
    __syncthreads();
  }
  // Which lane holds which element is not said: through shared memory every thread knows.
#pragma unroll
  for (int row = 0; row < 2; ++row) {
#pragma unroll
    for (int col = 0; col < 2; ++col) {
      wmma::store_matrix_sync(&tile_c[warp_row + row * kFragment][warp_col + col * kFragment],
                              sums[row][col], kPitchC, wmma::mem_row_major);
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kTile; i += kThreads) {
    const int64_t r = first_row + i / kTile;
    const int64_t s = first_col + i % kTile;
    if (r < c.rows && s < c.cols) c(r, s) = static_cast<T>(tile_c[i / kTile][i % kTile]);
  }
#endif
}

}  // namespace

LaunchStatus MatMulWmma(const MatMulArgs& args) {
  return Launch(Wmma, TileGrid(args.m, args.n, kTile, kTile), Block{kThreads}, 0, args.stream,
                TensorSource<T>(args.A<T>()), TensorSource<T>(args.B<T>()), args.C<T>());
}

}  // namespace stridewise
