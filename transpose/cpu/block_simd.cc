// Transposes of blocks, compiled once for each instruction set.

#include "transpose/cpu/block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transpose/cpu/block_simd.cc"
#include "common/base/simd_target.h"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include "transpose/cpu/block-inl.h"

#if HWY_ONCE
namespace stridewise {

void TransposeBlocks(const BlockTranspose& first, int64_t count, int64_t stride_in,
                     int64_t stride_out) {
  if (count <= 0 || first.rows <= 0 || first.cols <= 0) return;
  switch (ChosenSimdTarget()) {
#if HWY_TARGETS & HWY_AVX3
    case SimdTarget::kAvx512:
      return N_AVX3::TransposeBlocks(first, count, stride_in, stride_out);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdTarget::kAvx2:
      return N_AVX2::TransposeBlocks(first, count, stride_in, stride_out);
#endif
    default:
      return HWY_NAMESPACE::TransposeBlocks(first, count, stride_in, stride_out);
  }
}

void TransposeEdge(const BlockTranspose& edge, bool behind) {
  switch (ChosenSimdTarget()) {
#if HWY_TARGETS & HWY_AVX3
    case SimdTarget::kAvx512:
      return N_AVX3::TransposeEdge(edge, behind);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdTarget::kAvx2:
      return N_AVX2::TransposeEdge(edge, behind);
#endif
    default:
      return HWY_NAMESPACE::TransposeEdge(edge, behind);
  }
}

void StreamCopy(const uint8_t* from, uint8_t* to, int64_t bytes) {
  switch (ChosenSimdTarget()) {
#if HWY_TARGETS & HWY_AVX3
    case SimdTarget::kAvx512:
      return N_AVX3::StreamCopy(from, to, bytes);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdTarget::kAvx2:
      return N_AVX2::StreamCopy(from, to, bytes);
#endif
    default:
      return HWY_NAMESPACE::StreamCopy(from, to, bytes);
  }
}

}  // namespace stridewise
#endif  // HWY_ONCE
