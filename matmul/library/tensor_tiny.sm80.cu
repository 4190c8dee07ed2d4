// BF16 and FP16 products that are over before tensor cores could begin: one thread for each element
// of C and each of up to eight parts of k. It has 60 instructions where tensor_general has
// thousands, which alone take 3 us to arrive from a cold L2.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {
namespace {

constexpr int kLanes = 32;
constexpr int kWarps = 8;

// Elements from one to the next.
struct TinyStrides {
  int64_t row, k, batch;  // Of B, `row` is that of columns.
};

// A warp's lanes are 32 columns of a row, and `slices` warps divide k.
template <typename Element, typename Out>
__global__ void __launch_bounds__(kLanes* kWarps)
    TensorTiny(const Element* a, const Element* b, const __grid_constant__ TensorOutput c,
               int64_t k, int slices, TinyStrides of_a, TinyStrides of_b, int64_t batch) {
  __shared__ float sums[kWarps][kLanes];
  const int lane = static_cast<int>(threadIdx.x);
  const int warp = static_cast<int>(threadIdx.y);
  const int rows = kWarps / slices;
  const int slice = warp % slices;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kLanes + lane;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * rows + warp / slices;
  const int64_t row_step = static_cast<int64_t>(gridDim.y) * rows;
  for (int64_t product = blockIdx.z; product < batch; product += gridDim.z) {
    // All warps of a block go through the same rounds.
    for (int64_t row = first_row; row - warp / slices < c.rows; row += row_step) {
      float sum = 0;
      if (row < c.rows && col < c.cols) {
        const Element* const from_a = a + product * of_a.batch + row * of_a.row;
        const Element* const from_b = b + product * of_b.batch + col * of_b.row;
#pragma unroll 8
        for (int64_t i = slice; i < k; i += slices) {
          sum = fmaf(static_cast<float>(from_a[i * of_a.k]), static_cast<float>(from_b[i * of_b.k]),
                     sum);
        }
      }
      if (slices > 1) {
        sums[warp][lane] = sum;
        __syncthreads();
        for (int i = 1; i < slices && slice == 0; ++i) sum += sums[warp + i][lane];
        __syncthreads();
      }
      if (slice == 0 && row < c.rows && col < c.cols) {
        Out* const at = static_cast<Out*>(c.data) + product * c.stride + row * c.ld + col;
        const auto* const bias = static_cast<const Out*>(c.bias);
        *at = static_cast<Out>(c.Finish(sum, c.beta != 0 ? static_cast<float>(*at) : 0.0f,
                                        bias != nullptr ? static_cast<float>(bias[col]) : 0.0f));
      }
    }
  }
}

template <typename Element, typename Out>
LaunchStatus Run(const MatMulArgs& args) {
  TensorOutput c = OutputOf(args);
  const int64_t k = c.alpha == 0 ? 0 : args.k;
  if (k == 0) c.alpha = 0;
  const int slices = TensorTinySlices(k);
  const auto strides = [](const MatMulInput& input, bool k_major) {
    return k_major ? TinyStrides{input.ld, 1, input.stride}
                   : TinyStrides{1, input.ld, input.stride};
  };
  const Grid grid = {CeilDiv(args.n, kLanes),
                     std::min(CeilDiv(args.m * slices, kWarps), kMaxGridYZ),
                     std::min(args.batch, kMaxGridYZ)};
  return Launch(TensorTiny<Element, Out>, grid, Block{kLanes, kWarps}, 0, args.stream,
                static_cast<const Element*>(args.a.data), static_cast<const Element*>(args.b.data),
                c, k, slices, strides(args.a, !args.a.transposed),
                strides(args.b, args.b.transposed), args.batch);
}

template <typename Element>
LaunchStatus RunFor(const MatMulArgs& args) {
  return args.c.type == ElementType::kFloat ? Run<Element, float>(args)
                                            : Run<Element, Element>(args);
}

}  // namespace

LaunchStatus MatMulTensorTiny(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  return args.a.type == ElementType::kBf16 ? RunFor<__nv_bfloat16>(args) : RunFor<__half>(args);
}

}  // namespace stridewise
