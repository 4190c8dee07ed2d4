// BF16 and FP16 products that are over before tensor cores could begin: a thread for each element
// of C and each part of k. What such a product waits for is its instructions, which arrive from a
// cold L2 line by line, and a trip to memory: there are few of the ones, and as many threads divide
// k as load all of it together.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/tiny_plan.h"

namespace stridewise {
namespace {

// Elements from one to the next.
struct TinyOperand {
  const void* data;
  int line;  // Rows of A, columns of B.
  int k;
  int64_t batch;
};

struct TinyGemm {
  TinyOperand a, b;
  int k;
  int rows, cols;                     // Of what is tiled: C, or C transposed.
  int log_lanes, log_cols, log_outs;  // Of TinyPlan; the outs are those of columns and rows.
  int64_t c_row, c_col;
  TensorOutput c;
};

template <typename Element, typename Out>
__global__ void __launch_bounds__(1 << kTinyLogMaxThreads)
    TensorTiny(const __grid_constant__ TinyGemm gemm) {
  constexpr int kTogether = kTinyTogether;
  __shared__ float sums[1 << kTinyLogMaxThreads];
  const auto thread = static_cast<int>(threadIdx.x);
  const int log_own = gemm.log_lanes + gemm.log_outs;
  const int own = 1 << log_own;  // Threads of a part of k.
  const auto threads = static_cast<int>(blockDim.x);
  const int slices = threads >> gemm.log_outs;
  const int slice = (thread & ((1 << gemm.log_lanes) - 1)) | (thread >> log_own << gemm.log_lanes);
  const int out = (thread & (own - 1)) >> gemm.log_lanes;
  const int col =
      (static_cast<int>(blockIdx.y) << gemm.log_cols) + (out & ((1 << gemm.log_cols) - 1));
  const int row =
      (static_cast<int>(blockIdx.x) << (gemm.log_outs - gemm.log_cols)) + (out >> gemm.log_cols);
  // What lies outside is the last row or column again, and is not stored.
  const Element* const from_a = static_cast<const Element*>(gemm.a.data) +
                                blockIdx.z * gemm.a.batch +
                                int64_t{min(row, gemm.rows - 1)} * gemm.a.line;
  const Element* const from_b = static_cast<const Element*>(gemm.b.data) +
                                blockIdx.z * gemm.b.batch +
                                int64_t{min(col, gemm.cols - 1)} * gemm.b.line;
  float sum = 0;
#pragma unroll 1
  for (int first = slice; first < gemm.k; first += kTogether * slices) {
    // All loads stand before the first use and have no conditions. Beyond the last k that one
    // is loaded again, and not added.
    Element x[kTogether], y[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = min(first + i * slices, gemm.k - 1);
      x[i] = from_a[int64_t{at} * gemm.a.k];
      y[i] = from_b[int64_t{at} * gemm.b.k];
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      // Not with a factor of 0, which an infinite element would make NaN.
      const float more = fmaf(static_cast<float>(x[i]), static_cast<float>(y[i]), sum);
      if (first + i * slices < gemm.k) sum = more;
    }
  }
#pragma unroll 1
  for (int apart = 1; apart < 1 << gemm.log_lanes; apart *= 2) {
    sum += __shfl_xor_sync(~0u, sum, apart);
  }
  if (threads > own) {
    sums[thread] = sum;
    __syncthreads();
    if (thread >= own) return;
#pragma unroll 1
    for (int i = thread + own; i < threads; i += own) sum += sums[i];
  }
  if ((thread & ((1 << gemm.log_lanes) - 1)) != 0 || row >= gemm.rows || col >= gemm.cols) return;
  const TensorOutput& c = gemm.c;
  Out* const at =
      static_cast<Out*>(c.data) + blockIdx.z * c.stride + row * gemm.c_row + col * gemm.c_col;
  if (c.only_alpha) {
    *at = static_cast<Out>(c.alpha * sum);
    return;
  }
  const auto* const bias = static_cast<const Out*>(c.bias);
  *at = static_cast<Out>(
      c.Finish(sum, c.beta != 0 ? static_cast<float>(*at) : 0.0f,
               bias != nullptr ? static_cast<float>(bias[c.transposed ? row : col]) : 0.0f));
}

template <typename Element, typename Out>
LaunchStatus Run(const MatMulArgs& call_args, const TinyPlan& plan) {
  const CallOfTiles call(call_args, plan.transposed);
  const MatMulArgs& args = call.args;
  const auto operand = [](const MatMulInput& input, bool k_major) {
    const auto ld = static_cast<int>(input.ld);
    return k_major ? TinyOperand{input.data, ld, 1, input.stride}
                   : TinyOperand{input.data, 1, ld, input.stride};
  };
  TinyGemm gemm = {};
  gemm.a = operand(args.a, !args.a.transposed);
  gemm.b = operand(args.b, args.b.transposed);
  gemm.c = call.c;
  gemm.k = gemm.c.alpha == 0 ? 0 : static_cast<int>(args.k);
  gemm.log_lanes = plan.log_lanes;
  gemm.log_cols = plan.log_cols;
  gemm.log_outs = plan.log_cols + plan.log_rows;
  gemm.rows = static_cast<int>(args.m);
  gemm.cols = static_cast<int>(args.n);
  gemm.c_row = plan.transposed ? 1 : args.c.ld;
  gemm.c_col = plan.transposed ? args.c.ld : 1;
  const Grid grid = {CeilDiv(args.m, int64_t{1} << plan.log_rows),
                     CeilDiv(args.n, int64_t{1} << plan.log_cols), args.batch};
  return Launch(TensorTiny<Element, Out>, grid, Block{1 << plan.log_threads}, 0, args.stream, gemm);
}

template <typename Element>
LaunchStatus RunFor(const MatMulArgs& args, const TinyPlan& plan) {
  return args.c.type == ElementType::kFloat ? Run<Element, float>(args, plan)
                                            : Run<Element, Element>(args, plan);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_general");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorTiny(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  if (!TensorTinyTakes(args)) return Fallback().run(args);
  const TinyPlan plan = PlanTensorTiny(args);
  return args.a.type == ElementType::kBf16 ? RunFor<__nv_bfloat16>(args, plan)
                                           : RunFor<__half>(args, plan);
}

}  // namespace stridewise
