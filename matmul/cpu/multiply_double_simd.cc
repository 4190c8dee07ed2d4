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
#include "matmul/cpu/team-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

void MultiplyDouble(const HostProduct<double>& product) { MultiplyAny(product); }
bool IsPackedDouble(const HostProduct<double>& product, CacheBlocks* blocks) {
  return IsPacked(product, blocks);
}
void WorkDouble(TeamWork<double>* work) { Work(work); }

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

// The function of the best instruction set of the processor.
#if (HWY_TARGETS & HWY_AVX3) && (HWY_TARGETS & HWY_AVX2)
#define STRIDEWISE_SIMD_DISPATCH(function)                      \
  (ChosenSimdTarget() == SimdTarget::kAvx512 ? N_AVX3::function \
   : ChosenSimdTarget() == SimdTarget::kAvx2 ? N_AVX2::function \
                                             : HWY_STATIC_DISPATCH(function))
#else
#define STRIDEWISE_SIMD_DISPATCH(function) HWY_STATIC_DISPATCH(function)
#endif

namespace stridewise {

void MultiplyOnOneCore(const HostProduct<double>& product) {
  STRIDEWISE_SIMD_DISPATCH(MultiplyDouble)(product);
}

bool IsPackedOnHost(const HostProduct<double>& product, CacheBlocks* blocks) {
  return STRIDEWISE_SIMD_DISPATCH(IsPackedDouble)(product, blocks);
}

void WorkOnHost(TeamWork<double>* work) { STRIDEWISE_SIMD_DISPATCH(WorkDouble)(work); }

}  // namespace stridewise
#endif  // HWY_ONCE
