// Products of whole numbers from products of their residues: 15 moduli of at most 256 without a
// common divisor, whose product P is 2^117.8. A number between -P / 2 and P / 2 is known by its
// residues, and residues fit into a byte.
//
// Source: K. Ozaki, Y. Uchino, T. Imamura, "Ozaki Scheme II: A GEMM-oriented emulation of
// floating-point matrix multiplication using an integer modular technique", 2025.

#ifndef STRIDEWISE_MATMUL_DEVICE_MODULI_H_
#define STRIDEWISE_MATMUL_DEVICE_MODULI_H_

#include <math.h>

#include <cstdint>
#include <utility>

#include "common/base/matrix.h"

namespace stridewise {

using UInt128 = unsigned __int128;

constexpr int kModuli = 15;

STRIDEWISE_HOST_DEVICE constexpr int ModulusAt(int t) {
  constexpr int kAll[kModuli] = {256, 255, 253, 251, 247, 241, 239, 233,
                                 229, 227, 223, 217, 211, 199, 197};
  return kAll[t];
}

// Returns the product of all moduli, but for the one at `without`.
STRIDEWISE_HOST_DEVICE constexpr UInt128 ProductOfModuli(int without = -1) {
  UInt128 product = 1;
  for (int t = 0; t < kModuli; ++t) product *= t == without ? 1 : ModulusAt(t);
  return product;
}

// One modulus p, what the others' product is, and the inverse of that in the numbers modulo p.
template <int t>
struct Modulus {
  static constexpr int kIndex = t;
  static constexpr int kP = ModulusAt(t);
  static constexpr UInt128 kOthers = ProductOfModuli(t);
  static constexpr int Inverse() {
    for (int x = 1; x < kP; ++x) {
      if (static_cast<int>(kOthers % kP) * x % kP == 1) return x;
    }
    return 0;
  }
  static constexpr int kInverse = Inverse();
  static_assert(kInverse > 0, "it has a divisor in common with another modulus");
};

template <typename Function, int... t>
STRIDEWISE_HOST_DEVICE inline void ForEachModulus(Function f, std::integer_sequence<int, t...>) {
  (f(Modulus<t>()), ...);
}
// Calls f(Modulus<t>()) for each.
template <typename Function>
STRIDEWISE_HOST_DEVICE inline void ForEachModulus(Function f) {
  ForEachModulus(f, std::make_integer_sequence<int, kModuli>());
}

// Returns how many bits whole numbers may have whose products are summed k times: k * 2^(2 * bits)
// is at most 2^116, and they are exact as doubles.
inline int BitsForModuli(int64_t k) {
  int log_k = 0;
  while (int64_t{1} << log_k < k) ++log_k;
  const int bits = (116 - log_k) / 2;
  return bits < 52 ? bits : 52;
}

// Returns the residue of a whole number of at most 52 bits that is nearest to zero.
template <int kP>
STRIDEWISE_HOST_DEVICE inline int8_t ResidueOf(double x) {
  constexpr double kInverse = 1.0 / kP;
  double rest = fma(-1.0 * kP, rint(x * kInverse), x);  // Exact, and perhaps one p off.
  if (rest > (kP - 1) / 2) rest -= kP;
  if (rest < -(kP / 2)) rest += kP;
  return static_cast<int8_t>(rest);
}

// Finds a number from residues, in whatever order and of whatever sign and size they come.
class FromResidues {
 public:
  template <typename ModulusType>
  STRIDEWISE_HOST_DEVICE void Add(ModulusType /*modulus*/, int32_t residue) {
    constexpr int kP = ModulusType::kP;
    int of = residue % kP;
    if (of < 0) of += kP;
    of = of * ModulusType::kInverse % kP;
    sum_ += ModulusType::kOthers * static_cast<unsigned>(of);
    multiples_ += of * (1.0 / kP);
  }

  // Returns the number between -P / 2 and P / 2, rounded twice.
  STRIDEWISE_HOST_DEVICE double Value() const {
    constexpr UInt128 kProduct = ProductOfModuli();
    const UInt128 multiple = kProduct * static_cast<unsigned>(rint(multiples_));
    const auto value = static_cast<__int128>(sum_ - multiple);
    // The parts have the same sign: else the lower one's rounding could be most of the sum.
    const auto size = static_cast<UInt128>(value < 0 ? -value : value);
    const double rounded = fma(static_cast<double>(static_cast<uint64_t>(size >> 64)), 0x1p64,
                               static_cast<double>(static_cast<uint64_t>(size)));
    return value < 0 ? -rounded : rounded;
  }

 private:
  UInt128 sum_ = 0;
  double multiples_ = 0;  // Of P in the sum.
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_MODULI_H_
