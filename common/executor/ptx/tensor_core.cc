#include "common/executor/ptx/tensor_core.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"

namespace stridewise::executor {
namespace {

// A floating-point format with its bits below the sign.
struct Format {
  int exponent_bits;
  int fraction_bits;
  int dropped_bits;   // Below the fraction, which are not looked at.
  bool has_infinity;  // E4M3 has none, and a NaN only where all bits are set.
};

constexpr Format FormatOf(TensorType type) {
  switch (type) {
    case TensorType::kF16:
      return {5, 10, 0, true};
    case TensorType::kBf16:
      return {8, 7, 0, true};
    case TensorType::kTf32:
      return {8, 10, 13, true};
    case TensorType::kE4m3:
      return {4, 3, 0, false};
    case TensorType::kE5m2:
      return {5, 2, 0, true};
    default:
      return {8, 23, 0, true};
  }
}

// significand * 2^(exponent - the format's fraction_bits), or what is not finite.
struct Number {
  int32_t significand;
  int32_t exponent;
  bool finite;
  double value;  // Where it is not finite.
};

// A zero has the exponent of the smallest float, so that it does not count in an alignment.
constexpr int kZeroExponent = -126;

Number Decode(const Format& format, uint32_t bits) {
  bits >>= format.dropped_bits;
  const uint32_t fraction = bits & ((1u << format.fraction_bits) - 1);
  const uint32_t exponent = bits >> format.fraction_bits & ((1u << format.exponent_bits) - 1);
  const bool negative = (bits >> (format.fraction_bits + format.exponent_bits) & 1) != 0;
  const uint32_t last = (1u << format.exponent_bits) - 1;
  if (exponent == last && (format.has_infinity || fraction == (1u << format.fraction_bits) - 1)) {
    const bool is_nan = !format.has_infinity || fraction != 0;
    return {0, 0, false, is_nan ? NAN : negative ? -INFINITY : INFINITY};
  }
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto significand =
      static_cast<int32_t>(exponent == 0 ? fraction : fraction | 1u << format.fraction_bits);
  if (significand == 0) return {0, kZeroExponent, true, 0};
  return {negative ? -significand : significand,
          std::max<int32_t>(static_cast<int32_t>(exponent), 1) - bias, true, 0};
}

double ValueOf(const Format& format, const Number& number) {
  if (!number.finite) return number.value;
  return std::ldexp(number.significand, number.exponent - format.fraction_bits);
}

// Returns value * 2^shift, cut off toward zero.
int64_t Shift(int64_t value, int shift) {
  if (shift >= 0) return value * (int64_t{1} << shift);
  if (shift < -62) return 0;
  const int64_t sign = value >> 63;
  return (((value ^ sign) - sign) >> -shift ^ sign) - sign;
}

// Returns the bits of the float nearest toward zero to sum * 2^exponent that has `bits` fractional
// bits.
uint32_t FloatTowardZero(int64_t sum, int exponent, int bits) {
  if (sum == 0) return 0;
  const uint32_t sign = sum < 0 ? 0x80000000 : 0;
  const uint64_t magnitude = sum < 0 ? 0 - static_cast<uint64_t>(sum) : static_cast<uint64_t>(sum);
  const int top = 63 - __builtin_clzll(magnitude) + exponent;
  if (top > 127) return sign | 0x7f800000;
  const int unit = std::max(top, -126) - bits;
  const auto significand =
      static_cast<uint32_t>(Shift(static_cast<int64_t>(magnitude), exponent - unit) << (23 - bits));
  return sign | (top < -126 ? significand
                            : static_cast<uint32_t>(top + 127) << 23 | (significand & 0x7fffff));
}

// Returns the bits of the FP16 number nearest to sum * 2^exponent. A zero has no sign.
uint32_t HalfNearest(int64_t sum, int exponent) {
  if (sum == 0) return 0;
  const double value = std::ldexp(static_cast<double>(sum), exponent);
  const int unit = std::max(std::ilogb(value), -14) - 10;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return rounded == 0 ? 0 : Fp16(static_cast<float>(rounded)).bits;
}

// What the elements of an operand are, decoded once for each instruction.
void DecodeAll(const Format& format, const uint32_t* bits, int count, std::vector<Number>* to,
               bool* all_finite) {
  to->resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    (*to)[i] = Decode(format, bits[i]);
    *all_finite &= (*to)[i].finite;
  }
}

// Returns the sum where a number is not finite: infinity or NaN.
uint32_t NotFinite(const TensorForm& form, const Number* a, const Number* b, const Number& c) {
  double sum = ValueOf(FormatOf(form.sums), c);
  for (int i = 0; i < form.k; ++i) {
    sum += ValueOf(FormatOf(form.a), a[i]) * ValueOf(FormatOf(form.b), b[i]);
  }
  const bool half = form.sums == TensorType::kF16;
  if (std::isnan(sum)) return half ? 0x7fff : 0x7fffffff;
  return half ? (sum < 0 ? 0xfc00 : 0x7c00) : (sum < 0 ? 0xff800000 : 0x7f800000);
}

uint32_t FusedSum(const TensorForm& form, const Number* a, const Number* b, const Number& c) {
  int top = c.exponent;
  for (int i = 0; i < form.k; ++i) top = std::max(top, a[i].exponent + b[i].exponent);
  const int of_products =
      form.fraction_bits - FormatOf(form.a).fraction_bits - FormatOf(form.b).fraction_bits - top;
  int64_t sum = Shift(c.significand,
                      form.fraction_bits - FormatOf(form.sums).fraction_bits + c.exponent - top);
  for (int i = 0; i < form.k; ++i) {
    sum += Shift(int64_t{a[i].significand} * b[i].significand,
                 of_products + a[i].exponent + b[i].exponent);
  }
  return form.sums == TensorType::kF16
             ? HalfNearest(sum, top - form.fraction_bits)
             : FloatTowardZero(sum, top - form.fraction_bits, form.result_bits);
}

void MultiplyIntegers(const TensorForm& form, const uint32_t* a, const uint32_t* b,
                      const uint32_t* c, uint32_t* d) {
  const auto value = [](TensorType type, uint32_t bits) {
    return type == TensorType::kS8 ? static_cast<uint32_t>(static_cast<int8_t>(bits)) : bits & 0xff;
  };
  for (int row = 0; row < form.m; ++row) {
    for (int col = 0; col < form.n; ++col) {
      uint32_t sum = c[row * form.n + col];
      for (int i = 0; i < form.k; ++i) {
        sum += value(form.a, a[row * form.k + i]) * value(form.b, b[col * form.k + i]);
      }
      d[row * form.n + col] = sum;
    }
  }
}

uint32_t Fp16OfFp8(TensorType type, uint32_t bits) {
  const auto byte = static_cast<uint8_t>(bits);
  E4m3 e4m3;
  e4m3.bits = byte;
  E5m2 e5m2;
  e5m2.bits = byte;
  return Fp16(type == TensorType::kE4m3 ? static_cast<float>(e4m3) : static_cast<float>(e5m2)).bits;
}

void MultiplyAsFp16(const TensorForm& form, const uint32_t* a, const uint32_t* b, const uint32_t* c,
                    uint32_t* d) {
  TensorForm half = form;
  half.a = half.b = TensorType::kF16;
  half.k = form.k / 2;
  half.as_fp16 = false;
  const auto half_of = [&](TensorType type, const uint32_t* from, int rows, int first) {
    std::vector<uint32_t> to(static_cast<size_t>(rows * half.k));
    for (int i = 0; i < rows * half.k; ++i) {
      to[i] = Fp16OfFp8(type, from[i / 2 * 4 + first + i % 2]);
    }
    return to;
  };
  std::vector<uint32_t> sums(static_cast<size_t>(form.m * form.n));
  for (const int first : {0, 2}) {
    const std::vector<uint32_t> of_a = half_of(form.a, a, form.m, first);
    const std::vector<uint32_t> of_b = half_of(form.b, b, form.n, first);
    MultiplyTensors(half, of_a.data(), of_b.data(), sums.data(), sums.data());
  }
  for (int i = 0; i < form.m * form.n; ++i) {
    const float sum = FloatOfBits(sums[i]) + FloatOfBits(c[i]);
    d[i] = std::isnan(sum) ? 0x7fffffff : BitsOfFloat(sum);
  }
}

}  // namespace

std::optional<TensorType> FindTensorType(absl::string_view name) {
  const struct {
    const char* name;
    TensorType type;
  } types[] = {
      {"f16", TensorType::kF16},   {"bf16", TensorType::kBf16}, {"tf32", TensorType::kTf32},
      {"e4m3", TensorType::kE4m3}, {"e5m2", TensorType::kE5m2}, {"s8", TensorType::kS8},
      {"u8", TensorType::kU8},     {"f32", TensorType::kF32},   {"s32", TensorType::kS32}};
  for (const auto& type : types) {
    if (name == type.name) return type.type;
  }
  return std::nullopt;
}

int TensorTypeBits(TensorType type) {
  switch (type) {
    case TensorType::kF16:
    case TensorType::kBf16:
      return 16;
    case TensorType::kTf32:
    case TensorType::kF32:
    case TensorType::kS32:
      return 32;
    default:
      return 8;
  }
}

void MultiplyTensors(const TensorForm& form, const uint32_t* a, const uint32_t* b,
                     const uint32_t* c, uint32_t* d) {
  if (form.sums == TensorType::kS32) return MultiplyIntegers(form, a, b, c, d);
  if (form.as_fp16) return MultiplyAsFp16(form, a, b, c, d);
  static thread_local std::vector<Number> of_a, of_b;
  bool all_finite = true;
  DecodeAll(FormatOf(form.a), a, form.m * form.k, &of_a, &all_finite);
  DecodeAll(FormatOf(form.b), b, form.n * form.k, &of_b, &all_finite);
  for (int row = 0; row < form.m; ++row) {
    for (int col = 0; col < form.n; ++col) {
      const Number old = Decode(FormatOf(form.sums), c[row * form.n + col]);
      const Number* const x = &of_a[row * form.k];
      const Number* const y = &of_b[col * form.k];
      bool finite = old.finite;
      for (int i = 0; i < form.k && !all_finite; ++i) finite &= x[i].finite && y[i].finite;
      d[row * form.n + col] = finite ? FusedSum(form, x, y, old) : NotFinite(form, x, y, old);
    }
  }
}

}  // namespace stridewise::executor
