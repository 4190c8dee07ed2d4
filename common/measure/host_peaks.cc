#include "common/measure/host_peaks.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/simd_target.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "common/base/amx_tiles.h"
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace stridewise {
namespace {

// Runs fn(index) on that many threads at once.
void OnThreads(int threads, const std::function<void(int)>& fn) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(fn, i);
  fn(0);
  for (std::thread& other : others) other.join();
}

#if defined(__x86_64__)

// Two multiply-adds a cycle with four cycles' latency need eight chains; more do no harm.
constexpr int kChains = 12;
constexpr int64_t kSteps = 16384;

// The asm statement keeps the compiler from computing the loop's result without it.
#define FMA_LOOP(name, isa, vector, broadcast, fma)                \
  __attribute__((target(isa))) void name() {                       \
    vector chains[kChains];                                        \
    for (vector & chain : chains) chain = broadcast(1);            \
    vector factor = broadcast(1);                                  \
    vector summand = broadcast(0);                                 \
    asm volatile("" : "+v"(factor), "+v"(summand));                \
    for (int64_t step = 0; step < kSteps; ++step) {                \
      _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) { \
        chains[i] = fma(chains[i], factor, summand);               \
      }                                                            \
    }                                                              \
    _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) {   \
      asm volatile("" : "+v"(chains[i]));                          \
    }                                                              \
  }

FMA_LOOP(FmaFloatAvx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps)
FMA_LOOP(FmaDoubleAvx512, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd)
FMA_LOOP(FmaFloatAvx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps)
FMA_LOOP(FmaDoubleAvx2, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd)
#undef FMA_LOOP

// Of two products each. With twelve chains oneDNN came to 104 % of this on Zen 5.
constexpr int kDotChains = 24;
__attribute__((target("avx512f,avx512bf16"))) void DotBf16Avx512() {
  __m512 chains[kDotChains];
  for (__m512& chain : chains) chain = _mm512_set1_ps(1);
  __m512i factor = _mm512_set1_epi32(0x3f803f80);  // Ones.
  asm volatile("" : "+v"(factor));
  for (int64_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 24
    for (int i = 0; i < kDotChains; ++i) {
      chains[i] = _mm512_dpbf16_ps(chains[i], reinterpret_cast<__m512bh>(factor),
                                   reinterpret_cast<__m512bh>(factor));
    }
  }
#pragma GCC unroll 24
  for (int i = 0; i < kDotChains; ++i) asm volatile("" : "+v"(chains[i]));
}

// Of 32 products for each of 16 x 16 sums. Four chains hide the latency.
constexpr int kAmxChains = 4;
constexpr int64_t kAmxSteps = kSteps / 8;
constexpr double kAmxFlops = 2.0 * 32 * 16 * 16 * kAmxChains * kAmxSteps;
__attribute__((target("amx-tile,amx-bf16"))) void DotBf16Amx() {
  const AmxTiles tiles;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  for (int64_t step = 0; step < kAmxSteps; ++step) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
}

struct FmaLoop {
  void (*run)() = nullptr;
  double flops = 0;
};

FmaLoop FmaLoopFor(VectorMath math) {
  constexpr double kFlops = 2.0 * kChains * kSteps;
  if (math == VectorMath::kBf16 && HasBf16Tiles()) return {DotBf16Amx, kAmxFlops};
  if (math == VectorMath::kBf16 && HasBf16Products()) {
    return {DotBf16Avx512, 64.0 * kDotChains * kSteps};
  }
  const bool is_double = math == VectorMath::kDouble;
  if (__builtin_cpu_supports("avx512f")) {
    return is_double ? FmaLoop{FmaDoubleAvx512, 8 * kFlops} : FmaLoop{FmaFloatAvx512, 16 * kFlops};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return is_double ? FmaLoop{FmaDoubleAvx2, 4 * kFlops} : FmaLoop{FmaFloatAvx2, 8 * kFlops};
  }
  return {};
}

void StreamBytes(const char* from, char* to, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + at)));
  }
  _mm_sfence();
}

#else

void StreamBytes(const char* from, char* to, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

#endif

double MeasureCopyGbps(int threads) {
  constexpr int64_t kBytes = int64_t{256} << 20;
  const int64_t part = kBytes / threads / 64 * 64;
  constexpr size_t kHugePage = size_t{2} << 20;
  const std::unique_ptr<char, void (*)(void*)> memory(
      static_cast<char*>(std::aligned_alloc(kHugePage, 2 * kBytes)), std::free);
  if (memory == nullptr) return 0;
#if defined(__linux__)
  // 256 page faults instead of 131,072, which take longer than the copies.
  madvise(memory.get(), 2 * kBytes, MADV_HUGEPAGE);
#endif
  std::memset(memory.get(), 1, 2 * kBytes);
  char* const from = memory.get();
  char* const to = from + kBytes;
  const SteadyClock clock;
  double least = 1e9;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double start = clock.Now();
    OnThreads(threads, [&](int i) { StreamBytes(from + i * part, to + i * part, part); });
    least = std::min(least, clock.Now() - start);
  }
  return 2e-9 * static_cast<double>(part * threads) / least;
}

}  // namespace

double MeasureHostClockMhz() {
#if defined(__x86_64__)
  constexpr int kMultiplications = 1 << 17;
  const SteadyClock clock;
  double least = 1e9;
  for (int repeat = 0; repeat < 2; ++repeat) {
    uint64_t value = 3;
    const double start = clock.Now();
    for (int i = 0; i < kMultiplications; ++i) asm volatile("imul %0, %0" : "+r"(value));
    least = std::min(least, clock.Now() - start);
  }
  return 3e-6 * kMultiplications / least;
#else
  return 0;
#endif
}

double MeasureFmaGflops(VectorMath math, int threads, double seconds) {
#if defined(__x86_64__)
  const FmaLoop loop = FmaLoopFor(math);
  if (loop.run == nullptr) return 0;
  std::vector<double> rates(static_cast<size_t>(threads));
  OnThreads(threads, [&](int i) {
    const SteadyClock clock;
    const double start = clock.Now();
    double elapsed = 0;
    double flops = 0;
    do {
      loop.run();
      flops += loop.flops;
      elapsed = clock.Now() - start;
    } while (elapsed < seconds);
    rates[static_cast<size_t>(i)] = 1e-9 * flops / elapsed;
  });
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
#else
  return 0;
#endif
}

double HostCopyGbps(int threads) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<int, double>;
  const std::lock_guard<std::mutex> lock(mutex);
  double& gbps = known[threads];
  if (gbps == 0) gbps = MeasureCopyGbps(threads);
  return gbps;
}

}  // namespace stridewise
