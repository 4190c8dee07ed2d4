#include "common/base/simd_target.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <type_traits>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace stridewise {
namespace {

constexpr char kWithBf16[] = "avx512_bf16";

constexpr struct {
  SimdTarget target;
  const char* name;
} kTargets[] = {{SimdTarget::kBaseline, "baseline"},
                {SimdTarget::kAvx2, "avx2"},
                {SimdTarget::kAvx512, "avx512"},
                {SimdTarget::kAvx512, kWithBf16}};

using Entry = std::remove_reference_t<decltype(kTargets[0])>;

// Returns what STRIDEWISE_SIMD names; null where it names nothing.
const Entry* Limit() {
  const char* const name = std::getenv("STRIDEWISE_SIMD");
  if (name == nullptr) return nullptr;
  for (const auto& entry : kTargets) {
    if (std::strcmp(name, entry.name) == 0) return &entry;
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
    const Entry* const limit = Limit();
    return limit == nullptr ? best : std::min(best, limit->target);
  }();
  return target;
}

bool HasBf16Products() {
#if defined(__x86_64__)
  static const bool has = [] {
    const Entry* const limit = Limit();
    return (limit == nullptr || limit->name == kWithBf16) &&
           ChosenSimdTarget() == SimdTarget::kAvx512 && __builtin_cpu_supports("avx512bf16");
  }();
  return has;
#else
  return false;
#endif
}

bool HasBf16Tiles() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool has = [] {
    if (Limit() != nullptr || !HasBf16Products()) return false;
    // GCC 12 has no name for it.
    constexpr unsigned int kAmxTile = 1U << 24;
    constexpr unsigned int kAmxBf16 = 1U << 22;
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    if ((d & kAmxTile) == 0 || (d & kAmxBf16) == 0) return false;
    // Linux keeps 8 KB of tiles for each thread only of programs that ask for it (asm/prctl.h).
    constexpr long kRequestPermission = 0x1023;  // NOLINT(google-runtime-int)
    constexpr long kTileData = 18;               // NOLINT(google-runtime-int)
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
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
