// The general form for products so small that they last as long as a launch and one trip to memory:
// one element a thread, and all loads of a block on their way at once.
//
// At n = 64 the kernels with tiles of 32 x 32 and more spend their time on pipelines that never
// fill: 6 us, where an empty kernel takes 2.7 and a load from memory under 1. Here a block of 16 x
// 16 threads brings 16 rows of op(A) and 16 columns of op(B), 128 terms of each, 16 loads a thread
// with nothing to wait for between them, and multiplies from shared memory.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/launch.h"
#include "matmul/kernels/gemm_args.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

constexpr int kTile = 16;  // Rows and columns of C.
constexpr int kThreads = kTile * kTile;

// kTerms at a time. A row is one longer than needed, so that neither a column's loads nor a row's
// stores meet in one bank.
template <int kTerms>
using Lines = float[kTile][kTerms + 1];

template <int kTerms>
constexpr int kLoads = kTile* kTerms / kThreads;

// A thread's part of 16 lines from `first_line`, kTerms terms from `first_term`; 0 outside.
template <int kTerms, bool kAlongTerms>
__device__ inline void Load(const Operand& operand, int64_t first_line, int first_term, int depth,
                            int thread, float (&values)[kLoads<kTerms>]) {
#pragma unroll
  for (int i = 0; i < kLoads<kTerms>; ++i) {
    const int place = thread + i * kThreads;
    const int64_t line = first_line + (kAlongTerms ? place / kTerms : place % kTile);
    const int64_t term = first_term + (kAlongTerms ? place % kTerms : place / kTile);
    const int64_t at = kAlongTerms ? line * operand.ld + term : term * operand.ld + line;
    values[i] = line < operand.lines && term < depth ? operand.data[at] : 0.0f;
  }
}

template <int kTerms, bool kAlongTerms>
__device__ inline void Store(const float (&values)[kLoads<kTerms>], int thread,
                             Lines<kTerms>& lines) {
#pragma unroll
  for (int i = 0; i < kLoads<kTerms>; ++i) {
    const int place = thread + i * kThreads;
    lines[kAlongTerms ? place / kTerms : place % kTile]
         [kAlongTerms ? place % kTerms : place / kTile] = values[i];
  }
}

template <int kTerms, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(kThreads) Tiny(Gemm gemm, int64_t batch) {
  __shared__ Lines<kTerms> a_lines;
  __shared__ Lines<kTerms> b_lines;
  const int thread = static_cast<int>(threadIdx.x);
  // Tiles are counted along x, the only direction in which a grid has room for all of them.
  const int64_t tiles_across = (gemm.c.cols + kTile - 1) / kTile;
  const int64_t first_row = blockIdx.x / tiles_across * kTile;
  const int64_t first_col = blockIdx.x % tiles_across * kTile;
  const int64_t row = first_row + thread / kTile;
  const int64_t col = first_col + thread % kTile;
  for (int64_t index = blockIdx.y; index < batch; index += gridDim.y) {
    Operand a = gemm.a;
    Operand b = gemm.b;
    a.data += index * gemm.stride_a;
    b.data += index * gemm.stride_b;
    float sum = 0;
    for (int first = 0; first < gemm.depth; first += kTerms) {
      float a_values[kLoads<kTerms>];
      float b_values[kLoads<kTerms>];
      Load<kTerms, kAlongA>(a, first_row, first, gemm.depth, thread, a_values);
      Load<kTerms, kAlongB>(b, first_col, first, gemm.depth, thread, b_values);
      Store<kTerms, kAlongA>(a_values, thread, a_lines);
      Store<kTerms, kAlongB>(b_values, thread, b_lines);
      __syncthreads();
      const int terms = min(gemm.depth - first, kTerms);
#pragma unroll 8
      for (int i = 0; i < terms; ++i) {
        sum = fma(a_lines[thread / kTile][i], b_lines[thread % kTile][i], sum);
      }
      __syncthreads();
    }
    if (row >= gemm.c.rows || col >= gemm.c.cols) continue;
    float& element = gemm.c.data[index * gemm.stride_c + row * gemm.c.ld + col];
    const float product = gemm.scale.alpha * sum;
    element = gemm.scale.beta == 0 ? product : fma(gemm.scale.beta, element, product);
  }
}

template <int kTerms>
absl::Status LaunchTiny(const MatMulArgs& args) {
  const Gemm gemm = GemmOf(args);
  const Grid grid = {CeilDiv(args.m, kTile) * CeilDiv(args.n, kTile),
                     std::min(args.batch, kMaxGridYZ)};
  return ForAccesses(args, [&](auto access_a, auto access_b) {
    return Launch(
        Tiny<kTerms, access_a() == Access::kAlongTerms, access_b() == Access::kAlongTerms>, grid,
        Block{kThreads}, 0, args.stream, gemm, args.batch);
  });
}

}  // namespace

absl::Status MatMulTiny(const MatMulArgs& args) {
  if (args.k <= 16) return LaunchTiny<16>(args);
  if (args.k <= 64) return LaunchTiny<64>(args);
  return LaunchTiny<128>(args);
}

}  // namespace stridewise
