// Products of a k of at most 8, straight from memory to registers and back.
//
// What such a product needs is one trip to memory and the stores of C. Every other kernel makes a
// second trip of it, to shared memory and back with a barrier between. Here a thread has two or
// four elements of a column, loads their rows and the column itself, and C where it counts, all at
// once: lanes next to each other load the same rows, or neighbours, which the L1 cache makes few
// requests of.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tile_order.h"
#include "matmul/direct_plan.h"

namespace stridewise {
namespace {

// The argument. The grid has blocks of rows in x, of columns in y and the batch in z.
struct DirectProduct {
  Gemm<Float32> gemm;
  FastDivisor cols;  // Of a block.
  int rows_at_once;
};

// kExtentK: the most k.
template <int kExtentK, int kRows, bool kKMajorA, bool kKMajorB>
__global__ void __launch_bounds__(kDirectThreads) Direct(DirectProduct product) {
  const Gemm<Float32>& gemm = product.gemm;
  const uint32_t row_of_block = product.cols.Quotient(threadIdx.x);
  const uint32_t col_of_block = threadIdx.x - row_of_block * product.cols.divisor();
  const int64_t first_row =
      static_cast<int64_t>(blockIdx.x) * (kRows * product.rows_at_once) + row_of_block;
  const int64_t col = static_cast<int64_t>(blockIdx.y) * product.cols.divisor() + col_of_block;
  if (row_of_block >= static_cast<uint32_t>(product.rows_at_once) || col >= gemm.b.mn) return;
  const float* const a = gemm.a.data + blockIdx.z * gemm.stride_a;
  const float* const b = gemm.b.data + blockIdx.z * gemm.stride_b;
  float* const c = gemm.c.data + blockIdx.z * gemm.stride_c + col;
  const bool reads_c = gemm.epilogue.ReadsC();
  float a_values[kRows][kExtentK];
  float b_values[kExtentK];
  float old[kRows];
#pragma unroll
  for (int i = 0; i < kExtentK; ++i) {
    b_values[i] = i < gemm.k ? b[kKMajorB ? col * gemm.b.ld + i : i * gemm.b.ld + col] : 0.0f;
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int64_t row = first_row + r * product.rows_at_once;
#pragma unroll
    for (int i = 0; i < kExtentK; ++i) {
      a_values[r][i] = row < gemm.a.mn && i < gemm.k
                           ? a[kKMajorA ? row * gemm.a.ld + i : i * gemm.a.ld + row]
                           : 0.0f;
    }
    old[r] = reads_c && row < gemm.a.mn ? c[row * gemm.c.ld] : 0.0f;
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int64_t row = first_row + r * product.rows_at_once;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kExtentK; ++i) sum = fma(a_values[r][i], b_values[i], sum);
    if (row < gemm.a.mn) c[row * gemm.c.ld] = gemm.epilogue.Apply(sum, &old[r], reads_c);
  }
}

template <int kExtentK>
LaunchStatus LaunchDirect(const MatMulArgs& args) {
  constexpr int kRows = kExtentK <= 4 ? 4 : 2;
  const DirectPlan plan = PlanDirect(args.m, args.n, kExtentK);
  const DirectProduct product = {GemmOf<Float32>(args),
                                 FastDivisor(static_cast<uint32_t>(plan.cols)),
                                 static_cast<int>(plan.rows_at_once)};
  return ForLayouts(args, [&](auto layout_a, auto layout_b) {
    return Launch(Direct<kExtentK, kRows, layout_a() == OperandLayout::kKMajor,
                         layout_b() == OperandLayout::kKMajor>,
                  Grid{plan.row_blocks, plan.col_blocks, args.batch}, Block{kDirectThreads}, 0,
                  args.stream, product);
  });
}

}  // namespace

LaunchStatus MatMulDirect(const MatMulArgs& args) {
  static const MatMulFunctions fallback = FunctionsOf("general_tile");
  if (!FitsDirectPlan(args.n, args.k, args.batch)) return fallback.run(args);
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  return args.k <= 2   ? LaunchDirect<2>(args)
         : args.k <= 4 ? LaunchDirect<4>(args)
                       : LaunchDirect<8>(args);
}

}  // namespace stridewise
