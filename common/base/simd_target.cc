#include "common/base/simd_target.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace stridewise {
namespace {

constexpr struct {
  SimdTarget target;
  const char* name;
} kTargets[] = {{SimdTarget::kBaseline, "baseline"},
                {SimdTarget::kAvx2, "avx2"},
                {SimdTarget::kAvx512, "avx512"}};

// Returns what STRIDEWISE_SIMD names; null where it names nothing.
const SimdTarget* Limit() {
  const char* const name = std::getenv("STRIDEWISE_SIMD");
  if (name == nullptr) return nullptr;
  for (const auto& entry : kTargets) {
    if (std::strcmp(name, entry.name) == 0) return &entry.target;
  }
  return nullptr;
}

SimdTarget BestOfProcessor() {
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
  static const SimdTarget target = [] {
    const SimdTarget best = BestOfProcessor();
    const SimdTarget* const limit = Limit();
    return limit == nullptr ? best : std::min(best, *limit);
  }();
  return target;
}

bool HasBf16Products() {
#if defined(__x86_64__)
  static const bool has = Limit() == nullptr && ChosenSimdTarget() == SimdTarget::kAvx512 &&
                          __builtin_cpu_supports("avx512bf16");
  return has;
#else
  return false;
#endif
}

const char* SimdInstructionSet() {
  return std::find_if(std::begin(kTargets), std::end(kTargets),
                      [](const auto& entry) { return entry.target == ChosenSimdTarget(); })
      ->name;
}

}  // namespace stridewise
