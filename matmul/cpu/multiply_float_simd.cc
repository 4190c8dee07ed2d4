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
#include "matmul/cpu/team-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

void MultiplyFloat(const HostProduct<float>& product) { MultiplyAny(product); }
bool IsPackedFloat(const HostProduct<float>& product, CacheBlocks* blocks) {
  return IsPacked(product, blocks);
}
void WorkFloat(TeamWork<float>* work) { Work(work); }

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

void MultiplyOnOneCore(const HostProduct<float>& product) {
  STRIDEWISE_SIMD_DISPATCH(MultiplyFloat)(product);
}

bool IsPackedOnHost(const HostProduct<float>& product, CacheBlocks* blocks) {
  return STRIDEWISE_SIMD_DISPATCH(IsPackedFloat)(product, blocks);
}

void WorkOnHost(TeamWork<float>* work) { STRIDEWISE_SIMD_DISPATCH(WorkFloat)(work); }

}  // namespace stridewise
#endif  // HWY_ONCE
