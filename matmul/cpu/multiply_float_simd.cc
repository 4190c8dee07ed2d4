// Products of float on one core, compiled once for each instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matmul/cpu/multiply_float_simd.cc"
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

void MultiplyFloat(const HostProduct<float>& product) { MultiplyAny(product); }

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stridewise {

void MultiplyOnOneCore(const HostProduct<float>& product) {
  switch (ChosenSimdTarget()) {
#if HWY_TARGETS & HWY_AVX3
    case SimdTarget::kAvx512:
      return N_AVX3::MultiplyFloat(product);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdTarget::kAvx2:
      return N_AVX2::MultiplyFloat(product);
#endif
    default:
      return HWY_STATIC_DISPATCH(MultiplyFloat)(product);
  }
}

}  // namespace stridewise
#endif  // HWY_ONCE
