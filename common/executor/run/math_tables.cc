#include "common/executor/run/math_tables.h"

#include <cmath>
#include <cstdint>
#include <cstring>

// Of common/executor/hooks.cc: a load of that many bytes, and the beginning of a basic block, as if
// they were at `place` in the program. They do nothing outside of kernels.
extern "C" {
void simt_load_at(const void* address, size_t bytes, const void* place);
void simt_block_at(const void* place);
}

namespace {

// Only their places count.
alignas(256) const double kCoefficients[16] = {};
alignas(256) const uint64_t kDigits[18] = {};
alignas(256) const uint32_t kDigitsOfFloat[6] = {};

constexpr double kLarge = 2147483648.0;
constexpr float kLargeFloat = 105615.0f;

// Where the program calls the function. Each event has a place of its own within the bytes of the
// call, which are at least five, so that events of two calls are never taken for one.
using Place = const char*;

void LoadCoefficients(bool second, Place place) {
  const double* const from = kCoefficients + (second ? 8 : 0);
  for (int i = 0; i < 3; ++i) simt_load_at(from + 2 * i, 16, place - i);
}

// 64 bits a turn, from where the argument's exponent says: three or four turns.
void LoadDigits(double x, Place place) {
  if (std::fabs(x) >= kLarge && std::isfinite(x)) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    const int skipped = (static_cast<int>(bits >> 52 & 0x7ff) - 1024) / 64;
    const int end = skipped < 2 ? 18 : 19 - skipped;
    simt_block_at(place - 3);
    for (int i = 15 - skipped; i < end; ++i) simt_load_at(kDigits + i, 8, place - 3);
  }
  simt_block_at(place);
}

void LoadDigits(float x, Place place) {
  if (std::fabs(x) >= kLargeFloat && std::isfinite(x)) {
    simt_block_at(place - 3);
    for (const uint32_t& digits : kDigitsOfFloat) simt_load_at(&digits, 4, place - 3);
  }
  simt_block_at(place);
}

// Whether the nearest multiple of pi / 2 is an odd one.
bool IsOdd(double quarters) {
  return std::isfinite(quarters) && std::fmod(std::nearbyint(quarters), 2) != 0;
}
bool IsNearOdd(double x) { return IsOdd(x * 0.63661977236758134308); }

}  // namespace

namespace stridewise::executor {

std::vector<MathTable> MathTables() {
  return {{"the table of sin() and cos()", kCoefficients, sizeof(kCoefficients)},
          {"digits of 2 / pi", kDigits, sizeof(kDigits)},
          {"digits of 2 / pi for float", kDigitsOfFloat, sizeof(kDigitsOfFloat)}};
}

}  // namespace stridewise::executor

#define PLACE static_cast<Place>(__builtin_return_address(0))

extern "C" {

double simt_table_sin(double x) {
  LoadDigits(x, PLACE);
  LoadCoefficients(IsNearOdd(x), PLACE);
  return std::sin(x);
}
double simt_table_cos(double x) {
  LoadDigits(x, PLACE);
  LoadCoefficients(!IsNearOdd(x), PLACE);
  return std::cos(x);
}
double simt_table_tan(double x) {
  LoadDigits(x, PLACE);
  return std::tan(x);
}
void simt_table_sincos(double x, double* sine, double* cosine) {
  LoadDigits(x, PLACE);
  sincos(x, sine, cosine);
}
float simt_table_sinf(float x) {
  LoadDigits(x, PLACE);
  return std::sin(x);
}
float simt_table_cosf(float x) {
  LoadDigits(x, PLACE);
  return std::cos(x);
}
float simt_table_tanf(float x) {
  LoadDigits(x, PLACE);
  return std::tan(x);
}

}  // extern "C"
