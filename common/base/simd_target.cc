#include "common/base/simd_target.h"

namespace stridewise {
namespace {

SimdTarget Choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    return SimdTarget::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return SimdTarget::kAvx2;
  }
#endif
  return SimdTarget::kBaseline;
}

}  // namespace

SimdTarget ChosenSimdTarget() {
  static const SimdTarget target = Choose();
  return target;
}

bool HasBf16Products() {
#if defined(__x86_64__)
  static const bool has =
      ChosenSimdTarget() == SimdTarget::kAvx512 && __builtin_cpu_supports("avx512bf16");
  return has;
#else
  return false;
#endif
}

const char* SimdInstructionSet() {
  switch (ChosenSimdTarget()) {
    case SimdTarget::kAvx512:
      return "avx512";
    case SimdTarget::kAvx2:
      return "avx2";
    case SimdTarget::kBaseline:
      break;
  }
  return "baseline";
}

}  // namespace stridewise
