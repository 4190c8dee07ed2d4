// BF16 and FP16 by mma.sync for what the TMA cannot address: any alignment and leading dimension,
// k = 0 and alpha = 0, and GPUs of compute capability 8.0 and newer.
//
// A block computes 64x64 of C. The next tiles of A and B travel through registers, element by
// element, while the warps multiply the ones in shared memory, where k is contiguous in both. 32
// loads and 32 stores of two bytes a thread for 32 instructions mma bound it to a quarter of the
// rate of wgmma.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/epilogue.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/mma/mma_sm80.h"
#include "matmul/device/ptx_sm90.h"

namespace stridewise {
namespace {

constexpr int kTile = 64;
constexpr int kTileK = 32;
constexpr int kThreads = 128;
constexpr int kWarpTile = 32;  // A warp computes 32x32.
constexpr int kLoads = kTile * kTileK / kThreads;
// 80 bytes: the eight rows that ldmatrix loads together lie in different banks.
constexpr int kPitch = kTileK + 8;

// An operand as tiles of it are loaded: element (row, i) of 64 rows of m or n, and 32 of k.
template <typename T>
struct TileSource {
  const T* data;
  int64_t ld;
  int64_t extent;  // Of m or n.
  bool k_major;    // Neighbours in memory are neighbours along k.
};

template <typename T>
__device__ inline void LoadTile(const TileSource<T>& from, int64_t first, int64_t k, int64_t k_end,
                                T (&to)[kLoads]) {
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int element = i * kThreads + static_cast<int>(threadIdx.x);
    const int64_t row = first + (from.k_major ? element / kTileK : element % kTile);
    const int64_t depth = k + (from.k_major ? element % kTileK : element / kTile);
    const bool inside = row < from.extent && depth < k_end;
    const int64_t at = from.k_major ? row * from.ld + depth : depth * from.ld + row;
    to[i] = inside ? from.data[at] : T(0.0f);
  }
}

template <typename T>
__device__ inline void StoreTile(const TileSource<T>& from, const T (&values)[kLoads],
                                 T (&tile)[kTile][kPitch]) {
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int element = i * kThreads + static_cast<int>(threadIdx.x);
    if (from.k_major) {
      tile[element / kTileK][element % kTileK] = values[i];
    } else {
      tile[element % kTile][element / kTile] = values[i];
    }
  }
}

// Adds the product of two tiles to a warp's accumulators.
template <typename T>
__device__ inline void MultiplyTiles(const T (&a)[kTile][kPitch], const T (&b)[kTile][kPitch],
                                     int warp_row, int warp_col, float (&d)[2][4][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int k = 0; k < kTileK; k += kMmaDepth) {
    uint32_t of_a[2][4];
    uint32_t of_b[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      LoadMatrices(SharedAddress(&a[warp_row + i * 16 + lane % 16][k + lane / 16 * 8]), of_a[i]);
      LoadMatrices(
          SharedAddress(&b[warp_col + i * 16 + lane / 16 * 8 + lane % 8][k + lane / 8 % 2 * 8]),
          of_b[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const uint32_t pair[2] = {of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]};
        MultiplyAdd(of_a[i], pair, d[i][j], T());
      }
    }
  }
}

template <typename T, typename Out>
__global__ void __launch_bounds__(kThreads)
    TensorGeneral(TileSource<T> a, TileSource<T> b, Matrix<Out> c, int64_t k_extent,
                  Epilogue<GemmTypes<T, T, Out, float>> epilogue, int64_t stride_a,
                  int64_t stride_b, int64_t stride_c, int64_t batch) {
#if __CUDA_ARCH__ >= 800
  __shared__ __align__(16) T tile_a[kTile][kPitch];
  __shared__ __align__(16) T tile_b[kTile][kPitch];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * kTile;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp / 2 * kWarpTile;
  const int warp_col = warp % 2 * kWarpTile;
  for (int64_t i = blockIdx.z; i < batch; i += gridDim.z) {
    TileSource<T> of_a = a;
    TileSource<T> of_b = b;
    of_a.data += i * stride_a;
    of_b.data += i * stride_b;
    Out* const out = c.data + i * stride_c;
    for (int64_t row = first_row; row < c.rows; row += static_cast<int64_t>(gridDim.y) * kTile) {
      float d[2][4][4] = {};
      T next_a[kLoads];
      T next_b[kLoads];
      if (k_extent > 0) {
        LoadTile(of_a, row, 0, k_extent, next_a);
        LoadTile(of_b, first_col, 0, k_extent, next_b);
      }
      for (int64_t k = 0; k < k_extent; k += kTileK) {
        __syncthreads();  // The tiles before have been read.
        StoreTile(of_a, next_a, tile_a);
        StoreTile(of_b, next_b, tile_b);
        __syncthreads();
        if (k + kTileK < k_extent) {
          LoadTile(of_a, row, k + kTileK, k_extent, next_a);
          LoadTile(of_b, first_col, k + kTileK, k_extent, next_b);
        }
        MultiplyTiles(tile_a, tile_b, warp_row, warp_col, d);
      }
#pragma unroll
      for (int e = 0; e < 32; ++e) {
        const int64_t r = row + warp_row + e / 16 * 16 + e / 2 % 2 * 8 + lane / 4;
        const int64_t s = first_col + warp_col + e / 4 % 4 * 8 + lane % 4 * 2 + e % 2;
        if (r >= c.rows || s >= c.cols) continue;
        Out* const at = out + r * c.ld + s;
        *at = epilogue.Apply(d[e / 16][e / 4 % 4][e % 4], at, epilogue.ReadsC());
      }
    }
  }
#endif
}

template <typename T, typename Out>
LaunchStatus Run(const MatMulArgs& args) {
  const auto alpha = static_cast<float>(args.alpha);
  const int64_t k = alpha == 0 ? 0 : args.k;
  const TileSource<T> a = {args.A<T>().data, args.a.ld, args.m, !args.a.transposed};
  const TileSource<T> b = {args.B<T>().data, args.b.ld, args.n, args.b.transposed};
  constexpr int64_t kMaxGridYZ = 65535;
  const Grid grid = {CeilDiv(args.n, kTile), std::min(CeilDiv(args.m, kTile), kMaxGridYZ),
                     std::min(args.batch, kMaxGridYZ)};
  return Launch(
      TensorGeneral<T, Out>, grid, Block{kThreads}, 0, args.stream, a, b, args.C<Out>(), k,
      Epilogue<GemmTypes<T, T, Out, float>>{k == 0 ? 0 : alpha, static_cast<float>(args.beta)},
      args.a.stride, args.b.stride, args.c.stride, args.batch);
}

}  // namespace

LaunchStatus MatMulTensorGeneral(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const bool wide = args.c.type == ElementType::kFloat;
  if (args.a.type == ElementType::kBf16) {
    return wide ? Run<__nv_bfloat16, float>(args) : Run<__nv_bfloat16, __nv_bfloat16>(args);
  }
  return wide ? Run<__half, float>(args) : Run<__half, __half>(args);
}

}  // namespace stridewise
