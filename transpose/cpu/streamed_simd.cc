// Transposes past the caches, compiled once for each instruction set.

#include "transpose/cpu/streamed.h"
#include "transpose/cpu/streamed_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transpose/cpu/streamed_simd.cc"
#include "common/base/simd_target.h"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include "transpose/cpu/streamed-inl.h"

#if HWY_ONCE
namespace stridewise {

StreamedTiling TilingOfProcessor() {
#if defined(__x86_64__)
  static const StreamedTiling tiling =
      __builtin_cpu_is("amd") != 0 ? StreamedTiling::kAmd : StreamedTiling::kIntel;
  return tiling;
#else
  return StreamedTiling::kIntel;
#endif
}

int64_t CountStreamedTiles(const StreamedTranspose& transpose) {
  return StreamedTiles(transpose).count();
}

void TransposeStreamed(const StreamedTranspose& transpose, int64_t first, int64_t end) {
  if (first >= end) return;
  switch (ChosenSimdTarget()) {
#if HWY_TARGETS & HWY_AVX3
    case SimdTarget::kAvx512:
      return N_AVX3::TransposeTiles(transpose, first, end);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdTarget::kAvx2:
      return N_AVX2::TransposeTiles(transpose, first, end);
#endif
    default:
      return HWY_NAMESPACE::TransposeTiles(transpose, first, end);
  }
}

}  // namespace stridewise
#endif  // HWY_ONCE
