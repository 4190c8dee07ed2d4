#include "matmul/cpu/multiply_bf16.h"

#include <algorithm>
#include <cstdint>

#include "common/base/half_types.h"
#include "common/base/simd_target.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/team.h"

namespace stridewise {
namespace {

// Sums of a C of bfloat16 that are computed before they are rounded: 16 MB.
constexpr int64_t kMaxSums = 4 << 20;
constexpr int64_t kMinSumRows = 64;

struct WideBuffers {
  PackBuffer<float> a;
  PackBuffer<float> b;
  PackBuffer<float> sums;

  static WideBuffers& OfThread() {
    thread_local WideBuffers buffers;
    return buffers;
  }
};

// Copies a matrix to one of float, whose rows, or columns, have no gaps.
Strided<float> Widen(const Strided<Bf16>& from, int64_t rows, int64_t cols,
                     PackBuffer<float>* buffer) {
  const bool by_rows = from.col_step == 1;
  const int64_t runs = by_rows ? rows : cols;
  const int64_t run = by_rows ? cols : rows;
  const int64_t step = by_rows ? from.row_step : from.col_step;
  float* const to = buffer->AtLeast(runs * run);
  for (int64_t i = 0; i < runs; ++i) {
    for (int64_t j = 0; j < run; ++j) to[i * run + j] = from.data[i * step + j];
  }
  return by_rows ? Strided<float>{to, run, 1} : Strided<float>{to, 1, run};
}

}  // namespace

void MultiplyBf16Widened(const HostProduct<Bf16, float>& product) {
  constexpr int64_t kDepth = 1024;
  WideBuffers& buffers = WideBuffers::OfThread();
  HostProduct<float> part;
  part.m = product.m;
  part.n = product.n;
  part.c = product.c;
  part.ldc = product.ldc;
  part.alpha = product.alpha;
  for (int64_t p = 0; p < product.k; p += kDepth) {
    part.k = std::min(kDepth, product.k - p);
    part.beta = p == 0 ? product.beta : 1.0f;
    const Strided<Bf16> a = {product.a.At(0, p), product.a.row_step, product.a.col_step};
    const Strided<Bf16> b = {product.b.At(p, 0), product.b.row_step, product.b.col_step};
    part.a = Widen(a, part.m, part.k, &buffers.a);
    part.b = Widen(b, part.k, part.n, &buffers.b);
    MultiplyOnOneCore(part);
  }
}

void MultiplyOnOneCore(const HostProduct<Bf16, float>& product) {
#if defined(__x86_64__)
  if (HasBf16Products()) return MultiplyBf16OnBestUnit(product);
#endif
  MultiplyBf16Widened(product);
}

void MultiplyOnOneCore(const HostProduct<Bf16>& product) {
#if defined(__x86_64__)
  if (HasBf16Products()) return MultiplyBf16OnBestUnit(product);
#endif
  const int64_t most_rows = std::max(kMaxSums / product.n, kMinSumRows);
  for (int64_t first = 0; first < product.m; first += most_rows) {
    HostProduct<Bf16, float> part;
    part.m = std::min(most_rows, product.m - first);
    part.n = product.n;
    part.k = product.k;
    part.a = product.a;
    part.a.data = product.a.At(first, 0);
    part.b = product.b;
    float* const sums = WideBuffers::OfThread().sums.AtLeast(part.m * part.n);
    part.c = sums;
    part.ldc = part.n;
    part.alpha = product.alpha;
    MultiplyOnOneCore(part);
    for (int64_t row = 0; row < part.m; ++row) {
      Bf16* const to = product.c + (first + row) * product.ldc;
      const float* const from = sums + row * part.n;
      for (int64_t col = 0; col < part.n; ++col) {
        to[col] = Bf16(product.beta == 0 ? from[col]
                                         : from[col] + product.beta * static_cast<float>(to[col]));
      }
    }
  }
}

#if !defined(__x86_64__)
bool IsPackedOnHost(const HostProduct<Bf16, float>& /*product*/, CacheBlocks* /*blocks*/) {
  return false;
}
bool IsPackedOnHost(const HostProduct<Bf16>& /*product*/, CacheBlocks* /*blocks*/) { return false; }
void WorkOnHost(TeamWork<Bf16, float>* /*work*/) {}
void WorkOnHost(TeamWork<Bf16>* /*work*/) {}
#endif

}  // namespace stridewise
