// Functions of __half2 and __nv_bfloat162, beside float rounded once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>

struct Results {
  __half2 exp, rsqrt, negated, largest, least, quotient, turned, lows, less;
  __nv_bfloat162 log2, floor;
  bool all_less, some_less;
};

__global__ void Compute(__half2 a, __half2 b, __nv_bfloat162 c, Results* out) {
  out->exp = h2exp(a);
  out->rsqrt = h2rsqrt(a);
  out->negated = __hneg2(a);
  out->largest = __hmax2(a, b);
  out->least = __hmin2(a, b);
  out->quotient = __h2div(a, b);
  out->turned = __lowhigh2highlow(a);
  out->lows = __lows2half2(a, b);
  out->less = __hlt2(a, b);
  out->all_less = __hblt2(a, b);
  out->some_less = __hble2(a, a);
  out->log2 = h2log2(c);
  out->floor = h2floor(c);
}

int failures = 0;
template <typename Half2>
void Expect(const char* what, Half2 got, float x, float y) {
  if (float(got.x) == x && float(got.y) == y) return;
  ++failures;
  std::fprintf(stderr, "%s: %g %g, wanted %g %g\n", what, float(got.x), float(got.y), x, y);
}
float Half(float x) { return __half2float(__float2half(x)); }

int main() {
  Results* out;
  cudaMallocManaged(&out, sizeof(Results));
  const __half2 a = __floats2half2_rn(1.5f, 4.f), b = __floats2half2_rn(3.f, -2.f);
  Compute<<<1, 1>>>(a, b, __floats2bfloat162_rn(8.f, 2.75f), out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  Expect("exp", out->exp, Half(std::exp(1.5f)), Half(std::exp(4.f)));
  Expect("rsqrt", out->rsqrt, Half(1 / std::sqrt(1.5f)), 0.5f);
  Expect("negated", out->negated, -1.5f, -4.f);
  Expect("largest", out->largest, 3.f, 4.f);
  Expect("least", out->least, 1.5f, -2.f);
  Expect("quotient", out->quotient, 0.5f, -2.f);
  Expect("turned", out->turned, 4.f, 1.5f);
  Expect("lows", out->lows, 1.5f, 3.f);
  Expect("less", out->less, 1.f, 0.f);
  Expect("of both", __floats2half2_rn(out->all_less, out->some_less), 0.f, 1.f);
  Expect("log2", out->log2, 3.f, __bfloat162float(__float2bfloat16(std::log2(2.75f))));
  Expect("floor", out->floor, 8.f, 2.f);
  return failures;
}
