#include "common/executor/ptx/tensor_core.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

// A sum of products of one row and one column, D = C + a * b.
template <typename T>
uint32_t Sum(const TensorForm& like, const std::vector<float>& a, const std::vector<float>& b,
             uint32_t c) {
  TensorForm form = like;
  form.m = form.n = 1;
  form.k = static_cast<int>(a.size());
  std::vector<uint32_t> of_a, of_b;
  for (const float value : a) of_a.push_back(T(value).bits);
  for (const float value : b) of_b.push_back(T(value).bits);
  uint32_t d = 0;
  MultiplyTensors(form, of_a.data(), of_b.data(), &c, &d);
  return d;
}

float Fp16Sum(const std::vector<float>& a, const std::vector<float>& b, float c) {
  return FloatOfBits(Sum<Fp16>({}, a, b, BitsOfFloat(c)));
}

constexpr TensorForm kFp8 = {0,
                             0,
                             0,
                             TensorType::kE5m2,
                             TensorType::kE5m2,
                             TensorType::kF32,
                             /*fraction_bits=*/13,
                             /*result_bits=*/13};

TEST(TensorCore, KeepsTwentyFiveFractionalBitsOfTheLargestTerm) {
  const std::vector<float> ones(16, 1.0f);
  // Sixteen products of 2^-25 are kept beside 1, where FP32's additions would lose each.
  EXPECT_EQ(Fp16Sum(std::vector<float>(16, 0x1p-12f), std::vector<float>(16, 0x1p-13f), 1),
            1 + 0x1p-21f);
  // Those of 2^-26 are not, though their sum is a bit of the result.
  EXPECT_EQ(Fp16Sum(std::vector<float>(16, 0x1p-13f), std::vector<float>(16, 0x1p-13f), 1), 1);
  EXPECT_EQ(Fp16Sum(ones, ones, 0), 16);
}

TEST(TensorCore, CutsOffTowardZero) {
  EXPECT_EQ(Fp16Sum({-0x1p-13f}, {0x1p-13f}, 1), 1);
  EXPECT_EQ(Fp16Sum({0x1p-13f}, {0x1p-13f}, -1), -1);
  // 1 + 2^-24 + 2^-25 is nearer to the next float than to 1, and -1 likewise.
  EXPECT_EQ(Fp16Sum({0x1p-12f, 0x1p-12f}, {0x1p-12f, 0x1p-13f}, 1), 1);
  EXPECT_EQ(Fp16Sum({-0x1p-12f, 0x1p-12f}, {0x1p-12f, -0x1p-13f}, -1), -1);
}

TEST(TensorCore, AlignsToTheSumOfExponentsOfFactors) {
  // 1.5 * 1.5 = 2.25 counts with exponent 0: 2^-25 beside it is kept, and is above a bit of the
  // result only with seven others.
  EXPECT_EQ(
      Fp16Sum(
          {1.5f, 0x1p-12f, 0x1p-12f, 0x1p-12f, 0x1p-12f, 0x1p-12f, 0x1p-12f, 0x1p-12f, 0x1p-12f},
          {1.5f, 0x1p-13f, 0x1p-13f, 0x1p-13f, 0x1p-13f, 0x1p-13f, 0x1p-13f, 0x1p-13f, 0x1p-13f},
          0),
      2.25f + 0x1p-22f);
}

TEST(TensorCore, KeepsThirteenFractionalBitsOfFp8) {
  const auto sum = [](float a, float b, float c) {
    return FloatOfBits(Sum<E5m2>(kFp8, {a}, {b}, BitsOfFloat(c)));
  };
  EXPECT_EQ(sum(0x1p-6f, 0x1p-7f, 1), 1 + 0x1p-13f);
  EXPECT_EQ(sum(0x1p-7f, 0x1p-7f, 1), 1);
  // The accumulator is cut off, too.
  EXPECT_EQ(sum(1, 1, 1 + 0x1p-14f), 2);
}

TEST(TensorCore, AddsTheSumOfFp8AsFp16RoundedToTheNearest) {
  TensorForm form = {0, 0, 0, TensorType::kE5m2, TensorType::kE5m2};
  form.as_fp16 = true;
  const std::vector<float> a = {0x1p-14f, 0, 0x1p-14f, 0}, b = {0x1p-10f, 0, 0x1p-11f, 0};
  EXPECT_EQ(FloatOfBits(Sum<E5m2>(form, a, b, BitsOfFloat(1))), 1 + 0x1p-23f);
  EXPECT_EQ(FloatOfBits(Sum<E5m2>(form, {0x1p-14f, 0, 0, 0}, b, BitsOfFloat(1))), 1);
  EXPECT_EQ(Sum<E5m2>(form, {INFINITY, 0, 0, 0}, {1, 0, 0, 0}, BitsOfFloat(-INFINITY)),
            0x7fffffffu);
  form.a = form.b = TensorType::kE4m3;
  EXPECT_EQ(FloatOfBits(Sum<E4m3>(form, {0x1p-9f, 3, 448, 1}, {0x1p-9f, 1, 2, -1}, BitsOfFloat(1))),
            899);
}

TEST(TensorCore, TakesSubnormalsAndMakesThem) {
  EXPECT_EQ(Fp16Sum({0x1p-24f}, {1}, 0), 0x1p-24f);
  EXPECT_EQ(Fp16Sum({0x1p-24f}, {0x1p-24f}, 0), 0x1p-48f);
  const TensorForm bf16 = {0, 0, 0, TensorType::kBf16, TensorType::kBf16};
  EXPECT_EQ(FloatOfBits(Sum<Bf16>(bf16, {0x1p-126f}, {0x1p-20f}, 0)), 0x1p-146f);
  // A zero beside a large number does not push small terms away.
  EXPECT_EQ(Fp16Sum({0, 0x1p-14f}, {32768, 0x1p-14f}, 0), 0x1p-28f);
}

TEST(TensorCore, OverflowsToInfinityAndMakesOneNan) {
  const TensorForm bf16 = {0, 0, 0, TensorType::kBf16, TensorType::kBf16};
  EXPECT_EQ(FloatOfBits(Sum<Bf16>(bf16, {0x1p127f}, {2}, 0)), INFINITY);
  EXPECT_EQ(Fp16Sum({INFINITY}, {-1}, 0), -INFINITY);
  EXPECT_EQ(Fp16Sum({1}, {1}, INFINITY), INFINITY);
  EXPECT_EQ(Sum<Fp16>({}, {INFINITY, INFINITY}, {1, -1}, 0), 0x7fffffffu);
  EXPECT_EQ(Sum<Fp16>({}, {INFINITY}, {0}, 0), 0x7fffffffu);
  EXPECT_EQ(Sum<Fp16>({}, {NAN}, {1}, 0), 0x7fffffffu);
  EXPECT_EQ(Sum<E4m3>({0, 0, 0, TensorType::kE4m3, TensorType::kE4m3}, {NAN}, {1}, 0), 0x7fffffffu);
}

TEST(TensorCore, RoundsFp16SumsToTheNearest) {
  const TensorForm form = {0, 0, 0, TensorType::kF16, TensorType::kF16, TensorType::kF16};
  const auto sum = [&](float a, float b, float c) {
    return Sum<Fp16>(form, {a}, {b}, Fp16(c).bits);
  };
  EXPECT_EQ(sum(0x1p-5f, 0x1p-6f, 1), Fp16(1).bits);       // A tie, to even.
  EXPECT_EQ(sum(3, 0x1p-11f, 1), Fp16(1 + 0x1p-9f).bits);  // A tie, to even.
  EXPECT_EQ(sum(0x1.8p-5f, 0x1p-6f, 1), Fp16(1 + 0x1p-10f).bits);
  EXPECT_EQ(sum(256, 256, 0), 0x7c00u);
  EXPECT_EQ(sum(-0x1p-14f, 0x1p-12f, 0), 0u);  // Half the smallest number; no zero is negative.
  EXPECT_EQ(sum(NAN, 1, 0), 0x7fffu);
}

TEST(TensorCore, DoesNotLookAtTheLastBitsOfTf32) {
  const TensorForm form = {1, 1, 1, TensorType::kTf32, TensorType::kTf32};
  const uint32_t a = BitsOfFloat(1) | 0x1fff;
  const uint32_t b = BitsOfFloat(3) | 0x2000;
  const uint32_t c = 0;
  uint32_t d = 0;
  MultiplyTensors(form, &a, &b, &c, &d);
  EXPECT_EQ(FloatOfBits(d), 3 + 0x1p-9f);
}

TEST(TensorCore, SumsOfIntegersAreExactAndWrapAround) {
  const TensorForm form = {1, 1, 2, TensorType::kS8, TensorType::kU8, TensorType::kS32};
  const uint32_t a[] = {0x80, 0x7f};  // -128 and 127
  const uint32_t b[] = {0xff, 0x01};  // 255 and 1
  const uint32_t c = 0x80000000;
  uint32_t d = 0;
  MultiplyTensors(form, a, b, &c, &d);
  EXPECT_EQ(d, 0x80000000u - 128 * 255 + 127);
}

// The definition once more, in FP64: products and accumulator as multiples of 2^(top - bits).
float Defined(const std::vector<float>& a, const std::vector<float>& b, float c, int bits) {
  const auto exponent = [](float x) { return x == 0 ? -126 : std::ilogb(x); };
  int top = exponent(c);
  for (size_t i = 0; i < a.size(); ++i) top = std::max(top, exponent(a[i]) + exponent(b[i]));
  double sum = std::trunc(std::ldexp(static_cast<double>(c), bits - top));
  for (size_t i = 0; i < a.size(); ++i) {
    sum += std::trunc(std::ldexp(static_cast<double>(a[i]) * b[i], bits - top));
  }
  if (sum == 0) return 0;
  const int unit = std::ilogb(sum) - 23;
  return static_cast<float>(std::ldexp(std::trunc(std::ldexp(sum, -unit)), unit + top - bits));
}

TEST(TensorCore, AgreesWithTheDefinition) {
  uint64_t seed = 0;
  const auto random = [&](int exponents) {
    const uint64_t bits = Mix64(++seed);
    const float fraction = 1 + static_cast<float>(bits % 1024) / 1024;
    const int exponent = static_cast<int>(bits >> 20) % exponents;
    return std::ldexp((bits >> 60 & 1) != 0 ? -fraction : fraction, -exponent);
  };
  for (int trial = 0; trial < 20000; ++trial) {
    const int exponents = 1 + trial % 14;
    std::vector<float> a, b;
    for (int i = 0; i < 16; ++i) {
      a.push_back(random(exponents));
      b.push_back(i == trial % 20 ? 0 : random(exponents));
    }
    const float c = random(exponents) * (1 + 0x1p-23f);
    ASSERT_EQ(Fp16Sum(a, b, c), Defined(a, b, c, 25)) << trial;
  }
}

TEST(TensorCore, MultipliesMatrices) {
  constexpr int kM = 3, kN = 2, kK = 4;
  const TensorForm form = {kM, kN, kK, TensorType::kS8, TensorType::kS8, TensorType::kS32};
  uint32_t a[kM * kK], b[kN * kK], c[kM * kN];
  for (int i = 0; i < kM * kK; ++i) a[i] = i;
  for (int i = 0; i < kN * kK; ++i) b[i] = 10 + i;
  for (int i = 0; i < kM * kN; ++i) c[i] = 1000 * i;
  MultiplyTensors(form, a, b, c, c);
  for (int row = 0; row < kM; ++row) {
    for (int col = 0; col < kN; ++col) {
      uint32_t want = 1000 * (row * kN + col);
      for (int i = 0; i < kK; ++i) want += (row * kK + i) * (10 + col * kK + i);
      EXPECT_EQ(c[row * kN + col], want);
    }
  }
}

}  // namespace
}  // namespace stridewise::executor
