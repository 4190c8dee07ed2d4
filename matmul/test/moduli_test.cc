// Whole numbers and sums of their products, from residues and back.

#include "matmul/device/moduli.h"

#include <cmath>
#include <cstdint>
#include <random>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

double Found(const int32_t (&residues)[kModuli]) {
  FromResidues found;
  ForEachModulus([&](auto modulus) { found.Add(modulus, residues[decltype(modulus)::kIndex]); });
  return found.Value();
}

double FoundAgain(double x) {
  int32_t residues[kModuli];
  ForEachModulus([&](auto modulus) {
    residues[decltype(modulus)::kIndex] = ResidueOf<decltype(modulus)::kP>(x);
  });
  return Found(residues);
}

TEST(Moduli, FindsNumbersAgain) {
  std::mt19937_64 random(7);
  const double largest = std::ldexp(1, 52);
  for (const double x : {0.0, 1.0, -1.0, 127.0, 128.0, -128.0, -129.0, largest, -largest}) {
    EXPECT_EQ(FoundAgain(x), x);
  }
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -63 + i % 53);
    EXPECT_EQ(FoundAgain(std::rint(x)), std::rint(x));
  }
}

// Halves of every modulus, of multiples as large as numbers may be.
TEST(Moduli, ResiduesFitIntoAByte) {
  ForEachModulus([](auto modulus) {
    constexpr int kP = decltype(modulus)::kP;
    const double multiple = kP * std::floor(std::ldexp(1, 51) / kP);
    for (int rest = -kP; rest <= kP; ++rest) {
      for (const double x : {multiple + rest, -multiple - rest}) {
        const int residue = ResidueOf<kP>(x);
        ASSERT_EQ((static_cast<int64_t>(x) - residue) % kP, 0) << kP << ", " << x;
      }
    }
  });
}

// Sums of k products of numbers of as many bits as k allows.
TEST(Moduli, FindsSumsOfProducts) {
  std::mt19937_64 random(11);
  for (const int k : {128, 1000, 8192, 65536}) {
    const int bits = BitsForModuli(k);
    for (const bool largest : {false, true}) {
      __int128 sum = 0;
      int32_t residues[kModuli] = {};
      for (int i = 0; i < k; ++i) {
        const auto next = [&] {
          const double x = static_cast<double>(static_cast<int64_t>(random()));
          return largest ? std::ldexp(1, bits) : std::rint(std::ldexp(x, bits - 63));
        };
        const double x = next();
        const double y = next();
        sum += static_cast<__int128>(x) * static_cast<__int128>(y);
        ForEachModulus([&](auto modulus) {
          constexpr int kP = decltype(modulus)::kP;
          residues[decltype(modulus)::kIndex] += ResidueOf<kP>(x) * ResidueOf<kP>(y);
        });
      }
      const auto want = static_cast<double>(sum);
      EXPECT_NEAR(Found(residues), want, std::abs(want) * 0x1p-52) << k;
    }
  }
}

}  // namespace
}  // namespace stridewise
