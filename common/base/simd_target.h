// Which of the instruction sets that SIMD code is compiled for runs on this processor. Included
// before Highway's headers, which it tells what to compile for.

#ifndef STRIDEWISE_COMMON_BASE_SIMD_TARGET_H_
#define STRIDEWISE_COMMON_BASE_SIMD_TARGET_H_

// What every x86 processor of today has beside AVX2 and AVX-512 is the baseline, which is compiled
// anyway.
#if !defined(HWY_DISABLED_TARGETS)
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

namespace stridewise {

enum class SimdTarget { kBaseline, kAvx2, kAvx512 };

// Returns the best that STRIDEWISE_SIMD allows, asked once. The variable is baseline, avx2,
// avx512 or avx512_bf16, for tests of what slower processors run; the last one leaves out
// instructions for bfloat16, and avx512_bf16 those of AMX. No other value changes anything. Chooses
// as HWY_DYNAMIC_DISPATCH does; Highway's function is in a library that Debian has as a shared
// object only, and a binary is to run on machines without it.
SimdTarget ChosenSimdTarget();

// Returns whether there is AVX-512 and its instructions for bfloat16 (VDPBF16PS).
bool HasBf16Products();

// Returns whether there is AMX for bfloat16 (TDPBF16PS) beside them, and Linux lets this process
// use it, which the first call asks for.
bool HasBf16Tiles();

// "avx512", "avx2" or "baseline".
const char* SimdInstructionSet();

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_SIMD_TARGET_H_
