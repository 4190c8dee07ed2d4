// TF32, INT8 and FP8 by mma.sync for what the TMA cannot address and for calls without the
// workspace that wgmma needs: any layout, alignment and leading dimension, k = 0 and alpha = 0, and
// GPUs of compute capability 8.0 and newer.
//
// A block computes 64x64 of C. The next tiles of A and B travel through registers, element by
// element, while the warps multiply the ones in shared memory, where k is contiguous in both. These
// loads and stores, one for each element, bound it.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_MMA_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_MMA_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/gpu/launch.h"
#include "matmul/device/epilogue.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/mma/mma_sm80.h"
#include "matmul/device/ptx_sm90.h"

namespace stridewise {
namespace tensor_mma {

constexpr int kTile = 64;
constexpr int kThreads = 128;
constexpr int kWarpTile = 32;  // A warp computes 32x32.

// The type that an element is multiplied in. FP8 numbers are exact as FP16, whose products have
// sums of 25 bits instead of 13, and instructions from compute capability 8.0 on.
template <typename T>
using MmaElement =
    std::conditional_t<std::is_same_v<T, __nv_fp8_e4m3> || std::is_same_v<T, __nv_fp8_e5m2>, __half,
                       T>;

// Of k, 64 bytes.
template <typename M>
constexpr int kTileK = 64 / static_cast<int>(sizeof(M));
template <typename M>
constexpr int kLoads = kTile* kTileK<M> / kThreads;
// 80 bytes: the eight rows that ldmatrix loads together lie in different banks.
template <typename M>
constexpr int kPitch = kTileK<M> + 16 / static_cast<int>(sizeof(M));
template <typename M>
using Tile = M[kTile][kPitch<M>];

// Rounds a float to TF32, to the nearest and ties to even, as the TMA does; others are converted
// exactly.
template <typename M, typename T>
__device__ inline M ToMma(T value) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr uint32_t kDropped = 0x1fff;
    const uint32_t bits = __float_as_uint(value);
    if (isnan(value)) return __uint_as_float(bits | 0x400000);
    return __uint_as_float((bits + (kDropped >> 1) + (bits >> 13 & 1)) & ~kDropped);
  } else {
    return static_cast<M>(value);
  }
}

// An operand as tiles of it are loaded: element (row, i) of 64 rows of m or n, and 32 of k.
template <typename T>
struct TileSource {
  const T* data;
  int64_t ld;
  int64_t extent;  // Of m or n.
  bool k_major;    // Neighbours in memory are neighbours along k.
};

template <typename T, typename M>
__device__ inline void LoadTile(const TileSource<T>& from, int64_t first, int64_t k, int64_t k_end,
                                M (&to)[kLoads<M>]) {
#pragma unroll
  for (int i = 0; i < kLoads<M>; ++i) {
    const int element = i * kThreads + static_cast<int>(threadIdx.x);
    const int64_t row = first + (from.k_major ? element / kTileK<M> : element % kTile);
    const int64_t depth = k + (from.k_major ? element % kTileK<M> : element / kTile);
    const bool inside = row < from.extent && depth < k_end;
    const int64_t at = from.k_major ? row * from.ld + depth : depth * from.ld + row;
    to[i] = inside ? ToMma<M>(from.data[at]) : M(0);
  }
}

template <typename T, typename M>
__device__ inline void StoreTile(const TileSource<T>& from, const M (&values)[kLoads<M>],
                                 Tile<M>& tile) {
#pragma unroll
  for (int i = 0; i < kLoads<M>; ++i) {
    const int element = i * kThreads + static_cast<int>(threadIdx.x);
    if (from.k_major) {
      tile[element / kTileK<M>][element % kTileK<M>] = values[i];
    } else {
      tile[element % kTile][element / kTile] = values[i];
    }
  }
}

// Adds the product of two tiles to a warp's accumulators.
template <typename M, typename Accumulator>
__device__ inline void MultiplyTiles(const Tile<M>& a, const Tile<M>& b, int warp_row, int warp_col,
                                     Accumulator (&d)[2][4][4]) {
  constexpr int kVector = 16 / static_cast<int>(sizeof(M));
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int k = 0; k < kTileK<M>; k += 32 / static_cast<int>(sizeof(M))) {
    uint32_t of_a[2][4];
    uint32_t of_b[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      LoadMatrices(SharedAddress(&a[warp_row + i * 16 + lane % 16][k + lane / 16 * kVector]),
                   of_a[i]);
      LoadMatrices(
          SharedAddress(
              &b[warp_col + i * 16 + lane / 16 * 8 + lane % 8][k + lane / 8 % 2 * kVector]),
          of_b[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const uint32_t pair[2] = {of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]};
        MultiplyAdd(of_a[i], pair, d[i][j], M());
      }
    }
  }
}

// Returns the factor of this row and column for the block of k.
__device__ inline float ScaleAt(const TensorScales& scales, int64_t row, int64_t col, int64_t k) {
  const int64_t block = k / kScaledBlock;
  const float a = scales.a == nullptr ? 1 : scales.a[row * scales.blocks_of_k + block];
  const float b =
      scales.b == nullptr ? 1 : scales.b[block * scales.blocks_of_n + col / kScaledBlock];
  return a * b;
}

// Adds the sums of a tile of k, times their factors, to those of all k.
__device__ inline void AddScaled(const TensorScales& scales, int64_t row, int64_t rows, int64_t col,
                                 int64_t k, const float (&part)[2][4][4], float (&d)[2][4][4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int64_t r = row + i * 8;
    const float factor = scales.blocks_of_k > 0 && r < rows ? ScaleAt(scales, r, col, k) : 1;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float& sum = d[i / 2][j / 2][i % 2 * 2 + j % 2];
      sum = fmaf(factor, part[i / 2][j / 2][i % 2 * 2 + j % 2], sum);
    }
  }
}

// T and OfB are the elements of A and B. Factor is that of sums: float for INT8 where C is.
template <typename T, typename Out, typename OfB = T,
          typename Factor = std::conditional_t<std::is_same_v<Out, int>, int, float>>
__global__ void __launch_bounds__(kThreads)
    TensorMma(TileSource<T> a, TileSource<OfB> b, Matrix<Out> c, int64_t k_extent,
              Epilogue<GemmTypes<T, OfB, Out, Factor>> epilogue, int64_t stride_a, int64_t stride_b,
              int64_t stride_c, int64_t batch, TensorScales scales) {
#if __CUDA_ARCH__ >= 800
  using M = MmaElement<T>;
  constexpr bool kHasScales = !std::is_same_v<M, T>;
  __shared__ __align__(16) Tile<M> tile_a;
  __shared__ __align__(16) Tile<M> tile_b;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * kTile;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp / 2 * kWarpTile;
  const int warp_col = warp % 2 * kWarpTile;
  if constexpr (kHasScales) {
    if (k_extent > 0) epilogue.alpha *= ScaleOfAll(scales);
  }
  for (int64_t i = blockIdx.z; i < batch; i += gridDim.z) {
    TileSource<T> of_a = a;
    TileSource<OfB> of_b = b;
    of_a.data += i * stride_a;
    of_b.data += i * stride_b;
    Out* const out = c.data + i * stride_c;
    for (int64_t row = first_row; row < c.rows; row += static_cast<int64_t>(gridDim.y) * kTile) {
      AccumulatorOf<T> d[2][4][4] = {};
      M next_a[kLoads<M>];
      M next_b[kLoads<M>];
      if (k_extent > 0) {
        LoadTile(of_a, row, 0, k_extent, next_a);
        LoadTile(of_b, first_col, 0, k_extent, next_b);
      }
      for (int64_t k = 0; k < k_extent; k += kTileK<M>) {
        __syncthreads();  // The tiles before have been read.
        StoreTile(of_a, next_a, tile_a);
        StoreTile(of_b, next_b, tile_b);
        __syncthreads();
        if (k + kTileK<M> < k_extent) {
          LoadTile(of_a, row, k + kTileK<M>, k_extent, next_a);
          LoadTile(of_b, first_col, k + kTileK<M>, k_extent, next_b);
        }
        if constexpr (kHasScales) {
          float part[2][4][4] = {};
          MultiplyTiles<M>(tile_a, tile_b, warp_row, warp_col, part);
          AddScaled(scales, row + warp_row + lane / 4, c.rows, first_col, k, part, d);
        } else {
          MultiplyTiles<M>(tile_a, tile_b, warp_row, warp_col, d);
        }
      }
#pragma unroll
      for (int e = 0; e < 32; ++e) {
        const int64_t r = row + warp_row + e / 16 * 16 + e / 2 % 2 * 8 + lane / 4;
        const int64_t s = first_col + warp_col + e / 4 % 4 * 8 + lane % 4 * 2 + e % 2;
        if (r >= c.rows || s >= c.cols) continue;
        Out* const at = out + r * c.ld + s;
        *at =
            epilogue.Apply(static_cast<Factor>(d[e / 16][e / 4 % 4][e % 4]), at, epilogue.ReadsC());
      }
    }
  }
#endif
}

// Runs the product of elements T and OfB with C of type Out.
template <typename T, typename Out, typename OfB = T>
LaunchStatus RunTensorMma(const MatMulArgs& args, const TensorScales& scales = {}) {
  using Factor = std::conditional_t<std::is_same_v<Out, int>, int, float>;
  const auto alpha = static_cast<Factor>(args.alpha);
  const int64_t k = alpha == 0 ? 0 : args.k;
  const TileSource<T> a = {args.A<T>().data, args.a.ld, args.m, !args.a.transposed};
  const TileSource<OfB> b = {args.B<OfB>().data, args.b.ld, args.n, args.b.transposed};
  const Grid grid = {CeilDiv(args.n, kTile), std::min(CeilDiv(args.m, kTile), kMaxGridYZ),
                     std::min(args.batch, kMaxGridYZ)};
  return Launch(
      TensorMma<T, Out, OfB>, grid, Block{kThreads}, 0, args.stream, a, b, args.C<Out>(), k,
      Epilogue<GemmTypes<T, OfB, Out, Factor>>{k == 0 ? 0 : alpha, static_cast<Factor>(args.beta)},
      args.a.stride, args.b.stride, args.c.stride, args.batch, scales);
}

}  // namespace tensor_mma
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_MMA_H_
