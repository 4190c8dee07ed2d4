// All ways to multiply bfloat16 beside the definition, in whole numbers, whose sums are exact in
// any order, on every processor that has them.

#include "matmul/cpu/multiply_bf16.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "common/base/half_types.h"
#include "common/base/simd_target.h"
#include "gtest/gtest.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/whole_numbers.h"

namespace stridewise {
namespace {

struct Way {
  const char* name;
  bool (*exists)();
  void (*multiply)(const HostProduct<Bf16, float>& product);
};

const Way kWays[] = {
#if defined(__x86_64__)
    {"pairs", HasBf16Products, MultiplyBf16Pairs},
    {"tiles", HasBf16Tiles, MultiplyBf16Tiles},
#endif
    {"widened", [] { return true; }, MultiplyBf16Widened}};

// Tiles have 8 rows and three vectors of 16 columns, AMX's 16 or 32 rows and two or four vectors;
// pairs lie along k, in blocks of up to 1024.
struct Case {
  int64_t m, n, k;
};
constexpr Case kCases[] = {{1, 1, 1},    {8, 48, 2},   {9, 49, 3},     {7, 15, 65},
                           {17, 33, 64}, {3, 100, 17}, {24, 144, 31},  {5, 50, 2051},
                           {17, 65, 33}, {33, 97, 64}, {65, 47, 1100}, {40, 700, 95}};

Strided<Bf16> View(const std::vector<Bf16>& values, int64_t rows, int64_t cols, bool transposed) {
  if (transposed) return {values.data(), 1, rows};
  return {values.data(), cols, 1};
}

void Check(const Way& way, const Case& c, bool transposed_a, bool transposed_b, float beta) {
  const std::vector<Bf16> a = WholeNumbers<Bf16>(c.m * c.k, 3);
  const std::vector<Bf16> b = WholeNumbers<Bf16>(c.k * c.n, 7);
  HostProduct<Bf16, float> product;
  product.m = c.m;
  product.n = c.n;
  product.k = c.k;
  product.a = View(a, c.m, c.k, transposed_a);
  product.b = View(b, c.k, c.n, transposed_b);
  product.ldc = c.n + 1;
  product.alpha = 2;
  product.beta = beta;
  // What beta = 0 must not read; the gap behind a row stays.
  std::vector<float> result(static_cast<size_t>(c.m * product.ldc), beta == 0 ? NAN : 4.0f);
  const std::vector<float> before = result;
  product.c = result.data();
  way.multiply(product);
  int64_t wrong = 0;
  for (int64_t row = 0; row < c.m; ++row) {
    for (int64_t col = 0; col < c.n; ++col) {
      float sum = 0;
      for (int64_t p = 0; p < c.k; ++p) sum += *product.a.At(row, p) * *product.b.At(p, col);
      const float want = 2 * sum + (beta == 0 ? 0 : beta * 4);
      if (result[static_cast<size_t>(row * product.ldc + col)] != want) ++wrong;
    }
    const auto gap = static_cast<size_t>(row * product.ldc + c.n);
    const bool kept = std::isnan(before[gap]) ? std::isnan(result[gap]) : result[gap] == 4.0f;
    if (!kept) ++wrong;
  }
  EXPECT_EQ(wrong, 0) << way.name << ", " << c.m << "x" << c.n << "x" << c.k << ", transposed "
                      << transposed_a << transposed_b << ", beta " << beta;
}

TEST(MultiplyBf16Test, IsTheDefinitionInEveryWay) {
  for (const Way& way : kWays) {
    if (!way.exists()) continue;
    for (const Case& c : kCases) {
      for (int ops = 0; ops < 4; ++ops) {
        for (const float beta : {0.0f, 3.0f}) Check(way, c, (ops & 1) != 0, (ops & 2) != 0, beta);
      }
    }
  }
}

// What one core copies all of is more than a L2 cache, beside four blocks of B or more.
TEST(MultiplyBf16Test, ALargeAIsCopied) {
  constexpr Case kLarge = {1101, 1001, 1003};
  const std::vector<Bf16> a = WholeNumbers<Bf16>(kLarge.m * kLarge.k, 3);
  const std::vector<Bf16> b = WholeNumbers<Bf16>(kLarge.k * kLarge.n, 7);
  std::vector<float> want;
  for (auto way = std::rbegin(kWays); way != std::rend(kWays); ++way) {
    if (!way->exists()) continue;
    std::vector<float> c(static_cast<size_t>(kLarge.m * kLarge.n), NAN);
    HostProduct<Bf16, float> product;
    product.m = kLarge.m;
    product.n = kLarge.n;
    product.k = kLarge.k;
    product.a = View(a, kLarge.m, kLarge.k, false);
    product.b = View(b, kLarge.k, kLarge.n, false);
    product.c = c.data();
    product.ldc = kLarge.n;
    way->multiply(product);
    if (want.empty()) want = c;  // Of widened copies, which is the last one.
    EXPECT_TRUE(c == want) << way->name;
  }
}

}  // namespace
}  // namespace stridewise
