// Products of double on one core, compiled once for each instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matmul/cpu/multiply_double_simd.cc"
#include "common/base/simd_target.h"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include "matmul/cpu/host_product.h"
#include "matmul/cpu/multiply-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

void MultiplyDouble(const HostProduct<double>& product) { MultiplyAny(product); }

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stridewise {

void MultiplyOnOneCore(const HostProduct<double>& product) {
  switch (ChosenSimdTarget()) {
#if HWY_TARGETS & HWY_AVX3
    case SimdTarget::kAvx512:
      return N_AVX3::MultiplyDouble(product);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdTarget::kAvx2:
      return N_AVX2::MultiplyDouble(product);
#endif
    default:
      return HWY_STATIC_DISPATCH(MultiplyDouble)(product);
  }
}

}  // namespace stridewise
#endif  // HWY_ONCE
