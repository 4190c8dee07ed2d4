// The smallest products of `tiny`: a thread loads its row of op(A) and its column of op(B) itself.
//
// Each element is loaded eight times, from the cache that the first load fills, and still that is
// less than what shared memory costs: a store, a barrier and a load, one after the other. With up
// to 8 x 8 x 8 all loads are on their way at once, from one multiprocessor: a second block would
// have to fetch the code too, 0.15 us. n = 4 takes 3.36 us, with shared memory 3.55; a kernel that
// multiplies two numbers takes 3.36 too, an empty one 2.66.

#ifndef STRIDEWISE_MATMUL_KERNELS_TINY_DIRECT_H_
#define STRIDEWISE_MATMUL_KERNELS_TINY_DIRECT_H_

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/launch.h"
#include "matmul/kernels/gemm_args.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {  // A kernel of its own for each file that includes this.

inline constexpr int kDirectSize = 8;  // Rows, columns and terms, at most.

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

template <bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(kDirectSize* kDirectSize) TinyDirect(DirectProduct product) {
  const uint32_t row = threadIdx.x / kDirectSize;
  const uint32_t col = threadIdx.x % kDirectSize;
  if (row >= product.m || col >= product.n) return;
  float a[kDirectSize];
  float b[kDirectSize];
#pragma unroll
  for (uint32_t i = 0; i < kDirectSize; ++i) {
    const bool exists = i < product.k;
    a[i] = exists ? product.a[kAlongA ? row * product.lda + i : i * product.lda + row] : 0.0f;
    b[i] = exists ? product.b[kAlongB ? col * product.ldb + i : i * product.ldb + col] : 0.0f;
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kDirectSize; ++i) sum = fma(a[i], b[i], sum);
  float& element = product.c[row * product.ldc + col];
  const float result = product.alpha * sum;
  element = product.beta == 0 ? result : fma(product.beta, element, result);
}

inline bool FitsDirect(const MatMulArgs& args) {
  return args.m > 0 && args.n > 0 && args.batch == 1 &&
         std::max({args.m, args.n, args.k}) <= kDirectSize &&
         std::max({args.lda, args.ldb, args.ldc}) <= INT32_MAX / kDirectSize;
}

// REQUIRES: FitsDirect(args).
inline absl::Status LaunchTinyDirect(const MatMulArgs& args) {
  const Gemm gemm = GemmOf(args);
  const DirectProduct product = {gemm.a.data,
                                 gemm.b.data,
                                 static_cast<uint32_t>(args.lda),
                                 static_cast<uint32_t>(args.ldb),
                                 static_cast<uint32_t>(args.m),
                                 static_cast<uint32_t>(args.n),
                                 static_cast<uint32_t>(gemm.depth),
                                 gemm.scale.alpha,
                                 gemm.c.data,
                                 static_cast<uint32_t>(args.ldc),
                                 gemm.scale.beta};
  return ForAccesses(args, [&](auto access_a, auto access_b) {
    return Launch(TinyDirect<access_a() == Access::kAlongTerms, access_b() == Access::kAlongTerms>,
                  Grid{1}, Block{kDirectSize * kDirectSize}, 0, args.stream, product);
  });
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_KERNELS_TINY_DIRECT_H_
