// BF16 and FP16 products that are over before tensor cores could begin: one thread for each element
// of C and each of up to eight parts of k. It has few instructions where tensor_general has
// thousands, which alone take 3 us to arrive from a cold L2.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {
namespace {

constexpr int kLanes = 32;
constexpr int kWarps = 8;

// Elements from one to the next.
struct TinyOperand {
  const void* data;
  int64_t row, batch;  // Of B, `row` is that of columns.
  int k;
};

struct TinyGemm {
  TinyOperand a, b;
  int k;
  int slices;    // Warps that divide k.
  int log_cols;  // Of a warp, which has kLanes / columns rows.
  int64_t batch;
  TensorOutput c;
};

// A warp's lanes are neighbours of a row of C or, where it has few, of several rows.
template <typename Element, typename Out>
__global__ void __launch_bounds__(kLanes* kWarps)
    TensorTiny(const __grid_constant__ TinyGemm gemm) {
  constexpr int kTogether = kTinyTogether;
  __shared__ float sums[kWarps][kLanes];
  const TensorOutput& c = gemm.c;
  const int lane = static_cast<int>(threadIdx.x);
  const int warp = static_cast<int>(threadIdx.y);
  const int slice = warp & (gemm.slices - 1);
  const int warp_rows = kLanes >> gemm.log_cols;
  const int block_rows = kWarps / gemm.slices * warp_rows;
  const int64_t col = (int64_t{blockIdx.x} << gemm.log_cols) + (lane & ((1 << gemm.log_cols) - 1));
  const int64_t own_row = warp / gemm.slices * warp_rows + (lane >> gemm.log_cols);
#pragma unroll 1
  for (int64_t product = blockIdx.z; product < gemm.batch; product += gridDim.z) {
    // All warps of a block go through the same rounds.
#pragma unroll 1
    for (int64_t first_row = int64_t{blockIdx.y} * block_rows; first_row < c.rows;
         first_row += int64_t{gridDim.y} * block_rows) {
      const int64_t row = first_row + own_row;
      // What lies outside is the last row or column again, and is not stored.
      const Element* const from_a = static_cast<const Element*>(gemm.a.data) +
                                    product * gemm.a.batch + min(row, c.rows - 1) * gemm.a.row;
      const Element* const from_b = static_cast<const Element*>(gemm.b.data) +
                                    product * gemm.b.batch + min(col, c.cols - 1) * gemm.b.row;
      float sum = 0;
#pragma unroll 1
      for (int first = slice; first < gemm.k; first += kTogether * gemm.slices) {
        // All loads stand before the first use and have no conditions. Beyond the last k that one
        // is loaded again, and not added.
        Element x[kTogether], y[kTogether];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          const int at = min(first + i * gemm.slices, gemm.k - 1);
          x[i] = from_a[int64_t{at} * gemm.a.k];
          y[i] = from_b[int64_t{at} * gemm.b.k];
        }
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          if (first + i * gemm.slices < gemm.k) {
            sum = fmaf(static_cast<float>(x[i]), static_cast<float>(y[i]), sum);
          }
        }
      }
      if (gemm.slices > 1) {
        sums[warp][lane] = sum;
        __syncthreads();
        for (int i = 1; i < gemm.slices && slice == 0; ++i) sum += sums[warp + i][lane];
        __syncthreads();
      }
      if (slice != 0 || row >= c.rows || col >= c.cols) continue;
      Out* const at = static_cast<Out*>(c.data) + product * c.stride + row * c.ld + col;
      if (c.only_alpha) {
        *at = static_cast<Out>(c.alpha * sum);
        continue;
      }
      const auto* const bias = static_cast<const Out*>(c.bias);
      *at = static_cast<Out>(c.Finish(sum, c.beta != 0 ? static_cast<float>(*at) : 0.0f,
                                      bias != nullptr ? static_cast<float>(bias[col]) : 0.0f));
    }
  }
}

template <typename Element, typename Out>
LaunchStatus Run(const MatMulArgs& args) {
  const auto operand = [](const MatMulInput& input, bool k_major) {
    return k_major ? TinyOperand{input.data, input.ld, input.stride, 1}
                   : TinyOperand{input.data, 1, input.stride, static_cast<int>(input.ld)};
  };
  TinyGemm gemm = {};
  gemm.a = operand(args.a, !args.a.transposed);
  gemm.b = operand(args.b, args.b.transposed);
  gemm.c = OutputOf(args);
  gemm.k = gemm.c.alpha == 0 ? 0 : static_cast<int>(args.k);
  gemm.slices = TensorTinySlices(gemm.k);
  gemm.log_cols = TensorTinyLogCols(args.n);
  gemm.batch = args.batch;
  const int64_t rows = int64_t{kLanes >> gemm.log_cols} * (kWarps / gemm.slices);
  const Grid grid = {CeilDiv(args.n, int64_t{1} << gemm.log_cols),
                     std::min(CeilDiv(args.m, rows), kMaxGridYZ), std::min(args.batch, kMaxGridYZ)};
  return Launch(TensorTiny<Element, Out>, grid, Block{kLanes, kWarps}, 0, args.stream, gemm);
}

template <typename Element>
LaunchStatus RunFor(const MatMulArgs& args) {
  return args.c.type == ElementType::kFloat ? Run<Element, float>(args)
                                            : Run<Element, Element>(args);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_general");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorTiny(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  // k and what lies between its elements are counted in 31 bits.
  constexpr int64_t kMost = int64_t{1} << 30;
  if (std::max({args.k, args.a.ld, args.b.ld}) > kMost) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? RunFor<__nv_bfloat16>(args) : RunFor<__half>(args);
}

}  // namespace stridewise
