// The general form, C = alpha * op(A) * op(B) + beta * C of a batch, for any shape, leading
// dimension and alignment: `tiled` with all of that added, and what `auto` runs where nothing
// faster applies.
//
// A block of 64 threads computes a 32x32 tile of C, a thread 4x4 elements of it, from tiles of
// op(A) and op(B) in shared memory: 8 loads from there for 16 fma. Whether an operand is transposed
// matters only when its tile is loaded. A warp always loads along a row as it is stored, 32 floats
// of it, and stores them along or across the tile; rows of the tile are 33 floats apart, so that
// its 32 stores touch 32 banks either way.
//
// Tiles of both operands are padded with zeros at the edges: see 04_tiled.cu.

#include <cuda_runtime.h>

#include <algorithm>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/epilogue.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/operand.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;  // The rows and columns of a tile of C, and the k extent of a step.
constexpr int kThreads = 64;
constexpr int kEach = 4;                // A thread has kEach rows and columns of the tile,
constexpr int kStride = kTile / kEach;  // which are kStride apart.
static_assert(kStride * kStride == kThreads, "each thread computes the same number of elements");
static_assert(kTile * kTile % kThreads == 0, "each thread loads the same number of elements");

// Tile[k][mn]: mn is a row of op(A), or a column of op(B).
using Tile = float[kTile][kTile + 1];

struct Batch {
  int64_t size;
  int64_t stride_a, stride_b, stride_c;
};

// Loads the operand's tile from (first_k, first_mn) on, with zeros where it is not inside.
template <OperandLayout kLayout>
__device__ inline void LoadTile(const ConstMatrix<float>& in, int64_t first_k, int64_t first_mn,
                                Tile& tile) {
  constexpr bool kKMajor = kLayout == OperandLayout::kKMajor;
  const int64_t first_row = kKMajor ? first_mn : first_k;
  const int64_t first_col = kKMajor ? first_k : first_mn;
  const int x = threadIdx.x % kTile;
  for (int y = threadIdx.x / kTile; y < kTile; y += kThreads / kTile) {
    const int64_t row = first_row + y;
    const int64_t col = first_col + x;
    const float value = row < in.rows && col < in.cols ? in(row, col) : 0.0f;
    tile[kKMajor ? x : y][kKMajor ? y : x] = value;
  }
}

// Adds op(A) * op(B) to this thread's accumulators for one tile of C.
template <OperandLayout kLayoutA, OperandLayout kLayoutB>
__device__ inline void Accumulate(const ConstMatrix<float>& a, const ConstMatrix<float>& b,
                                  int64_t depth, int64_t first_row, int64_t first_col,
                                  float (&accumulators)[kEach][kEach]) {
  __shared__ Tile a_tile;
  __shared__ Tile b_tile;
  const int x = threadIdx.x % kStride;
  const int y = threadIdx.x / kStride;
  for (int64_t first = 0; first < depth; first += kTile) {
    LoadTile<kLayoutA>(a, first, first_row, a_tile);
    LoadTile<kLayoutB>(b, first, first_col, b_tile);
    __syncthreads();
    for (int k = 0; k < kTile; ++k) {
      float a_values[kEach];
      float b_values[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        a_values[i] = a_tile[k][y + i * kStride];
        b_values[i] = b_tile[k][x + i * kStride];
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
          accumulators[i][j] = fma(a_values[i], b_values[j], accumulators[i][j]);
        }
      }
    }
    __syncthreads();
  }
}

// With a depth of 0, A and B are not read.
template <OperandLayout kLayoutA, OperandLayout kLayoutB>
__global__ void __launch_bounds__(kThreads)
    GeneralTile(ConstMatrix<float> a, ConstMatrix<float> b, Matrix<float> c, int64_t depth,
                Epilogue<Float32> epilogue, Batch batch) {
  // Tiles are counted along x, the only direction in which a grid has room for all of them.
  const int64_t tile_cols = (c.cols + kTile - 1) / kTile;
  const int64_t first_row = blockIdx.x / tile_cols * kTile;
  const int64_t first_col = blockIdx.x % tile_cols * kTile;
  const int64_t row = first_row + threadIdx.x / kStride;
  const int64_t col = first_col + threadIdx.x % kStride;
  for (int64_t index = blockIdx.y; index < batch.size; index += gridDim.y) {
    const ConstMatrix<float> one_a = {a.data + index * batch.stride_a, a.rows, a.cols, a.ld};
    const ConstMatrix<float> one_b = {b.data + index * batch.stride_b, b.rows, b.cols, b.ld};
    const Matrix<float> one_c = {c.data + index * batch.stride_c, c.rows, c.cols, c.ld};
    float accumulators[kEach][kEach] = {};
    Accumulate<kLayoutA, kLayoutB>(one_a, one_b, depth, first_row, first_col, accumulators);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        const int64_t r = row + i * kStride;
        const int64_t s = col + j * kStride;
        if (r >= c.rows || s >= c.cols) continue;
        epilogue.Store(accumulators[i][j], &one_c(r, s));
      }
    }
  }
}

}  // namespace

LaunchStatus MatMulGeneralTile(const MatMulArgs& args) {
  const int64_t tiles = CeilDiv(args.m, kTile) * CeilDiv(args.n, kTile);
  const Gemm<Float32> gemm = GemmOf<Float32>(args);
  return ForLayouts(args, [&](auto layout_a, auto layout_b) {
    return Launch(GeneralTile<layout_a(), layout_b()>,
                  Grid{tiles, std::min(args.batch, kMaxGridYZ)}, Block{kThreads}, 0, args.stream,
                  args.A<float>(), args.B<float>(), gemm.c, int64_t{gemm.k}, gemm.epilogue,
                  Batch{args.batch, args.a.stride, args.b.stride, args.c.stride});
  });
}

}  // namespace stridewise
