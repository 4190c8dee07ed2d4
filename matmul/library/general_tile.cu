// The general form, C = alpha * op(A) * op(B) + beta * C of a batch, for any shape, leading
// dimension and alignment: `tiled` grown up, and what `auto` runs where nothing faster applies.
//
// A block of 64 threads makes a 32x32 tile of C, a thread 4x4 elements of it, from tiles of op(A)
// and op(B) in shared memory: 8 loads from there for 16 fma. Whether an operand is transposed
// matters only on the way in. A warp always loads along a row as it is stored, 32 floats of it, and
// puts them along or across the tile; rows of the tile are 33 floats apart, so that its 32 stores
// touch 32 banks either way.
//
// Tiles are padded with zeros at the edges, in both operands: see tiled.cu.

#include <cuda_runtime.h>

#include <algorithm>

#include "common/gpu/launch.h"
#include "matmul/args.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;  // Rows and columns of C, and as many terms at a time.
constexpr int kThreads = 64;
constexpr int kEach = 4;               // Rows, and columns, of C that a thread makes,
constexpr int kApart = kTile / kEach;  // so far from each other.
static_assert(kApart * kApart == kThreads, "each thread makes as many elements");
static_assert(kTile * kTile % kThreads == 0, "each thread loads as many elements");

// Tile[term][line]: a line is a row of op(A), or a column of op(B).
using Tile = float[kTile][kTile + 1];

struct Batch {
  int64_t size;
  int64_t stride_a, stride_b, stride_c;
};

// kTermsAlongRows: neighbours in a stored row are terms of one sum, as in A and in B transposed;
// else they are lines.
template <bool kTermsAlongRows>
__device__ inline void LoadTile(const ConstMatrix<float>& in, int64_t first_term,
                                int64_t first_line, Tile& tile) {
  const int64_t first_row = kTermsAlongRows ? first_line : first_term;
  const int64_t first_col = kTermsAlongRows ? first_term : first_line;
  const int x = threadIdx.x % kTile;
  for (int y = threadIdx.x / kTile; y < kTile; y += kThreads / kTile) {
    const int64_t row = first_row + y;
    const int64_t col = first_col + x;
    const float value = row < in.rows && col < in.cols ? in(row, col) : 0.0f;
    tile[kTermsAlongRows ? x : y][kTermsAlongRows ? y : x] = value;
  }
}

// sum += op(A) * op(B) for this thread's elements of one tile of C.
template <bool kTransposeA, bool kTransposeB>
__device__ inline void Accumulate(const ConstMatrix<float>& a, const ConstMatrix<float>& b,
                                  int64_t terms, int64_t first_row, int64_t first_col,
                                  float (&sum)[kEach][kEach]) {
  __shared__ Tile a_tile;
  __shared__ Tile b_tile;
  const int x = threadIdx.x % kApart;
  const int y = threadIdx.x / kApart;
  for (int64_t first = 0; first < terms; first += kTile) {
    LoadTile<!kTransposeA>(a, first, first_row, a_tile);
    LoadTile<kTransposeB>(b, first, first_col, b_tile);
    __syncthreads();
    for (int term = 0; term < kTile; ++term) {
      float a_values[kEach];
      float b_values[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        a_values[i] = a_tile[term][y + i * kApart];
        b_values[i] = b_tile[term][x + i * kApart];
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) sum[i][j] = fma(a_values[i], b_values[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
}

// No terms: A and B are not read.
template <bool kTransposeA, bool kTransposeB>
__global__ void __launch_bounds__(kThreads)
    GeneralTile(ConstMatrix<float> a, ConstMatrix<float> b, Matrix<float> c, int64_t terms,
                float alpha, float beta, Batch batch) {
  // Tiles are counted along x, the only direction in which a grid has room for all of them.
  const int64_t tiles_across = (c.cols + kTile - 1) / kTile;
  const int64_t first_row = blockIdx.x / tiles_across * kTile;
  const int64_t first_col = blockIdx.x % tiles_across * kTile;
  const int64_t row = first_row + threadIdx.x / kApart;
  const int64_t col = first_col + threadIdx.x % kApart;
  for (int64_t index = blockIdx.y; index < batch.size; index += gridDim.y) {
    const ConstMatrix<float> one_a = {a.data + index * batch.stride_a, a.rows, a.cols, a.ld};
    const ConstMatrix<float> one_b = {b.data + index * batch.stride_b, b.rows, b.cols, b.ld};
    const Matrix<float> one_c = {c.data + index * batch.stride_c, c.rows, c.cols, c.ld};
    float sum[kEach][kEach] = {};
    Accumulate<kTransposeA, kTransposeB>(one_a, one_b, terms, first_row, first_col, sum);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        const int64_t r = row + i * kApart;
        const int64_t s = col + j * kApart;
        if (r >= c.rows || s >= c.cols) continue;
        const float product = alpha * sum[i][j];
        one_c(r, s) = beta == 0 ? product : fma(beta, one_c(r, s), product);
      }
    }
  }
}

template <bool kTransposeA, bool kTransposeB>
absl::Status LaunchGeneralTile(const MatMulArgs& args) {
  const int64_t tiles = CeilDiv(args.m, kTile) * CeilDiv(args.n, kTile);
  const auto alpha = static_cast<float>(args.alpha);
  const int64_t terms = alpha == 0 ? 0 : args.k;
  return Launch(GeneralTile<kTransposeA, kTransposeB>,
                Grid{tiles, std::min(args.batch, kMaxGridYZ)}, Block{kThreads}, 0, args.stream,
                args.A<float>(), args.B<float>(), args.C<float>(), terms, terms == 0 ? 0 : alpha,
                static_cast<float>(args.beta),
                Batch{args.batch, args.a.stride, args.b.stride, args.c.stride});
}

}  // namespace

absl::Status MatMulGeneralTile(const MatMulArgs& args) {
  if (args.a.transposed) {
    return args.b.transposed ? LaunchGeneralTile<true, true>(args)
                             : LaunchGeneralTile<true, false>(args);
  }
  return args.b.transposed ? LaunchGeneralTile<false, true>(args)
                           : LaunchGeneralTile<false, false>(args);
}

}  // namespace stridewise
