// BF16 and FP16 products with a short k, which last as long as C takes to be written: FP32's fused
// multiply-adds, and stores of neighbours by neighbouring lanes, at any alignment. Tiles of tensor
// cores would have to pass through shared memory where C's rows are odd.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/general_operand.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/shallow_plan.h"

namespace stridewise {
namespace {

constexpr int kThreads = kShallowWarps * 32;

struct ShallowGemm {
  GeneralOperand a, b;
  int k;
  int log_k;  // Of the k of a chunk, a power of two: all of a shorter k.
  TensorOutput c;
};

// A chunk of an operand in shared memory, as floats: kMn neighbours for each k.
template <int kMn>
struct ShallowChunk {
  static constexpr int kPitch = kMn + 4;
  static constexpr int kOfThread = kMn * kShallowK / kThreads;
  float values[kShallowK][kPitch];
};

// A thread's elements of a chunk, on their way to shared memory.
template <typename Element, int kMn>
class ShallowCopy {
 public:
  // Loads rows or columns from `mn` on, and those of k from `k` on of `depth`; others are 0. No
  // load waits for another one.
  __device__ void Load(const GeneralOperand& from, int64_t mn, int k, int depth, int log_k) {
    const auto* const matrix =
        reinterpret_cast<const Element*>(from.data + int64_t{blockIdx.z} * from.stride) +
        (from.k_major ? mn * from.ld + k : int64_t{k} * from.ld + mn);
    const auto mn_left = static_cast<int>(min(from.mn - mn, int64_t{kMn}));
    const int k_left = min(depth - k, 1 << log_k);
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      const int of_k = OfK(from.k_major, i, log_k);
      const int of_mn = OfMn(from.k_major, i, log_k);
      elements_[i] = Element(0.0f);
      if (of_mn < mn_left && of_k < k_left) {
        elements_[i] = matrix[from.k_major ? of_mn * from.ld + of_k : of_k * from.ld + of_mn];
      }
    }
  }

  __device__ void Store(bool k_major, int log_k, ShallowChunk<kMn>* to) const {
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      const int of_k = OfK(k_major, i, log_k);
      const int of_mn = OfMn(k_major, i, log_k);
      if (of_mn < kMn) to->values[of_k][of_mn] = static_cast<float>(elements_[i]);
    }
  }

 private:
  static constexpr int kOfThread = ShallowChunk<kMn>::kOfThread;

  // Neighbours in memory belong to neighbouring threads.
  __device__ static int OfK(bool k_major, int i, int log_k) {
    const int number = i * kThreads + static_cast<int>(threadIdx.x);
    return k_major ? number & ((1 << log_k) - 1) : number / kMn;
  }
  __device__ static int OfMn(bool k_major, int i, int log_k) {
    const int number = i * kThreads + static_cast<int>(threadIdx.x);
    return k_major ? number >> log_k : number % kMn;
  }

  Element elements_[kOfThread];
};

// A block computes kRows rows for each of its warps, by kCols columns for each lane.
template <typename Element, typename Out, int kRows, int kCols>
__global__ void __launch_bounds__(kThreads, 3)
    TensorShallow(const __grid_constant__ ShallowGemm gemm) {
  constexpr int kBlockRows = kShallowWarps * kRows;
  constexpr int kBlockCols = 32 * kCols;
  __shared__ ShallowChunk<kBlockRows> a;
  __shared__ ShallowChunk<kBlockCols> b;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int own_row = static_cast<int>(threadIdx.x) / 32 * kRows;
  const int64_t first_row = int64_t{blockIdx.x} * kBlockRows;
  const int64_t first_col = int64_t{blockIdx.y} * kBlockCols;
  const int chunk = 1 << gemm.log_k;
  float d[kRows][kCols] = {};
#pragma unroll 1
  for (int k = 0; k < gemm.k; k += chunk) {
    ShallowCopy<Element, kBlockRows> copy_a;
    ShallowCopy<Element, kBlockCols> copy_b;
    copy_a.Load(gemm.a, first_row, k, gemm.k, gemm.log_k);
    copy_b.Load(gemm.b, first_col, k, gemm.k, gemm.log_k);
    if (k > 0) __syncthreads();  // The chunk before has been read.
    copy_a.Store(gemm.a.k_major, gemm.log_k, &a);
    copy_b.Store(gemm.b.k_major, gemm.log_k, &b);
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < chunk; ++i) {
      float of_b[kCols];
#pragma unroll
      for (int col = 0; col < kCols; ++col) of_b[col] = b.values[i][col * 32 + lane];
#pragma unroll
      for (int row = 0; row < kRows; row += 4) {
        const auto of_a = *reinterpret_cast<const float4*>(&a.values[i][own_row + row]);
        const float four[4] = {of_a.x, of_a.y, of_a.z, of_a.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int col = 0; col < kCols; ++col) {
            d[row + j][col] = fmaf(four[j], of_b[col], d[row + j][col]);
          }
        }
      }
    }
  }
  const TensorOutput& c = gemm.c;
  const int64_t row = first_row + own_row;
  const int64_t col = first_col + lane;
  Out* const to = static_cast<Out*>(c.data) + int64_t{blockIdx.z} * c.stride + row * c.ld + col;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (row + r >= c.rows) break;
    float old[kCols] = {};
    if (c.beta != 0) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) {
        if (col + j * 32 < c.cols) old[j] = static_cast<float>(to[r * c.ld + j * 32]);
      }
    }
#pragma unroll
    for (int j = 0; j < kCols; ++j) {
      float value = c.alpha * d[r][j];
      if (c.beta != 0) value = fmaf(c.beta, old[j], value);
      if (col + j * 32 < c.cols) to[r * c.ld + j * 32] = static_cast<Out>(value);
    }
  }
}

template <typename Element, typename Out, int kRows, int kCols>
LaunchStatus RunTile(const MatMulArgs& args) {
  ShallowGemm gemm = {};
  gemm.a = GeneralOperandA(args);
  gemm.b = GeneralOperandB(args);
  gemm.c = OutputOf(args);
  gemm.k = gemm.c.alpha == 0 ? 0 : static_cast<int>(args.k);
  while (1 << gemm.log_k < std::min(kShallowK, gemm.k)) ++gemm.log_k;
  return Launch(TensorShallow<Element, Out, kRows, kCols>,
                Grid{CeilDiv(args.m, int64_t{kShallowWarps} * kRows),
                     CeilDiv(args.n, int64_t{32} * kCols), args.batch},
                Block{kThreads}, 0, args.stream, gemm);
}

template <typename Element, typename Out>
LaunchStatus Run(const MatMulArgs& args) {
  return ShallowIsNarrow(args) ? RunTile<Element, Out, 32, 1>(args)
                               : RunTile<Element, Out, 8, 4>(args);
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

LaunchStatus MatMulTensorShallow(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  if (!TensorShallowTakes(args)) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? RunFor<__nv_bfloat16>(args) : RunFor<__half>(args);
}

}  // namespace stridewise
