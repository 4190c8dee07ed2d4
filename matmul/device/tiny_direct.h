// The smallest products of `tiny`: a thread loads its row of op(A) and its column of op(B) itself.
//
// Each element is loaded up to eight times, from the cache that the first load fills, and still
// that is less than what shared memory costs: a store, a barrier and a load, one after the other.
// All loads are in flight at once, from one multiprocessor: blocks on others would have to fetch
// the code too. n = 4 takes 3.42 us, with shared memory 3.58; a kernel that multiplies two numbers
// takes 3.39, an empty one 2.70.

#ifndef STRIDEWISE_MATMUL_DEVICE_TINY_DIRECT_H_
#define STRIDEWISE_MATMUL_DEVICE_TINY_DIRECT_H_

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"

namespace stridewise {
namespace {  // Each file that includes this has a kernel of its own.

inline constexpr int kDirectSize = 8;  // The largest m, n and k.

// The argument. Offsets fit in 32 bits, which saves a third of the instructions.
struct DirectProduct {
  const float* a;
  const float* b;
  uint32_t lda, ldb;
  uint32_t m, n, k;
  float alpha;
  float* c;
  uint32_t ldc;
  float beta;
};

// kSize: the largest m, n and k.
template <int kSize, bool kKMajorA, bool kKMajorB>
__global__ void __launch_bounds__(kSize* kSize) TinyDirect(DirectProduct product) {
  const uint32_t row = threadIdx.x / kSize;
  const uint32_t col = threadIdx.x % kSize;
  const bool inside = row < product.m && col < product.n;
  const float* const a = product.a + (kKMajorA ? row * product.lda : row);
  const float* const b = product.b + (kKMajorB ? col * product.ldb : col);
  float a_values[kSize];
  float b_values[kSize];
#pragma unroll
  for (uint32_t i = 0; i < kSize; ++i) {
    const bool exists = inside && i < product.k;
    a_values[i] = exists ? a[kKMajorA ? i : i * product.lda] : 0.0f;
    b_values[i] = exists ? b[kKMajorB ? i : i * product.ldb] : 0.0f;
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kSize; ++i) sum = fma(a_values[i], b_values[i], sum);
  if (!inside) return;
  const Epilogue<Float32> epilogue = {product.alpha, product.beta};
  epilogue.Store(sum, &product.c[row * product.ldc + col]);
}

inline bool FitsDirect(const MatMulArgs& args) {
  return args.m > 0 && args.n > 0 && args.batch == 1 &&
         std::max({args.m, args.n, args.k}) <= kDirectSize &&
         std::max({args.a.ld, args.b.ld, args.c.ld}) <= INT32_MAX / kDirectSize;
}

// REQUIRES: FitsDirect(args).
inline LaunchStatus LaunchTinyDirect(const MatMulArgs& args) {
  const Gemm<Float32> gemm = GemmOf<Float32>(args);
  const DirectProduct product = {gemm.a.data,
                                 gemm.b.data,
                                 static_cast<uint32_t>(args.a.ld),
                                 static_cast<uint32_t>(args.b.ld),
                                 static_cast<uint32_t>(args.m),
                                 static_cast<uint32_t>(args.n),
                                 static_cast<uint32_t>(gemm.k),
                                 gemm.epilogue.alpha,
                                 gemm.c.data,
                                 static_cast<uint32_t>(args.c.ld),
                                 gemm.epilogue.beta};
  const auto launch = [&](auto size) {
    constexpr int kSize = decltype(size)::value;
    return ForLayouts(args, [&](auto layout_a, auto layout_b) {
      return Launch(TinyDirect<kSize, layout_a() == OperandLayout::kKMajor,
                               layout_b() == OperandLayout::kKMajor>,
                    Grid{1}, Block{kSize * kSize}, 0, args.stream, product);
    });
  };
  const bool small = std::max({args.m, args.n, args.k}) <= kDirectSize / 2;
  return small ? launch(std::integral_constant<int, kDirectSize / 2>())
               : launch(std::integral_constant<int, kDirectSize>());
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TINY_DIRECT_H_
