// Operands of 16 bits that are hard for the sums of a product: what cancels, and magnitudes of
// which a sum loses the most. Products of them are compared with the proven bound: CheckProduct()
// of validation.h presumes uniform ones.

#ifndef STRIDEWISE_MATMUL_TEST_HARD_OPERANDS_H_
#define STRIDEWISE_MATMUL_TEST_HARD_OPERANDS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/element_type.h"
#include "common/verify/fill.h"
#include "common/verify/validation.h"

namespace stridewise {

enum class Operands {
  kUniform,           // U[-1, 1).
  kHalvesCancel,      // The second half of k takes away the first, but for one part in 200.
  kNeighboursCancel,  // Each odd i takes away the even one before it, but for one part in 200.
  kOneLarge,          // One product of 2^12, at the beginning, middle or end of k, and small ones,
                      // of which FP32 keeps some bits or none beside it.
  kAllAlike,          // Positive ones with all bits of their mantissa: errors add up.
  kAllExponents,      // Exponents of much of the range: in FP16 of nearly all, with subnormals.
  kSubnormal,         // A of subnormal numbers.
};

inline constexpr Operands kHardOperands[] = {Operands::kHalvesCancel, Operands::kNeighboursCancel,
                                             Operands::kOneLarge,     Operands::kAllAlike,
                                             Operands::kAllExponents, Operands::kSubnormal};

inline const char* OperandsName(Operands operands) {
  constexpr const char* kNames[] = {"uniform",   "halves cancel", "neighbours cancel", "one large",
                                    "all alike", "all exponents", "subnormal"};
  return kNames[static_cast<int>(operands)];
}

// Returns OK if a product of hard operands keeps the bound. Sums in FP32 may be
// K u (|A||B|)_ij off. Tensor cores cut off 17 numbers for 16 products, and their sum
// (docs/tensor_cores.md): up to 1.2 of that, and more where k is no multiple of 16.
inline absl::Status CheckHardProduct(const ProductError& error) {
  constexpr double kTolerance = 2;
  if (error.non_finite == 0 && error.max_error_over_bound <= kTolerance) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("entry (", error.worst_row, ", ", error.worst_col,
                                          ") has an error of ", error.max_error_over_bound,
                                          " proven bounds; allowed is ", kTolerance, "; ",
                                          error.non_finite, " are not finite"));
}

// The operands of products of this k, of BF16 or FP16: what op(A) has at (row, i) and op(B) at
// (i, col). REQUIRES: hard ones.
class HardValues {
 public:
  HardValues(Operands operands, ElementType type, int64_t k)
      : operands_(operands), fp16_(type == ElementType::kFp16), k_(k) {}

  double A(uint64_t seed, int64_t row, int64_t i) const {
    switch (operands_) {
      case Operands::kUniform:
        return 0;
      case Operands::kHalvesCancel:
      case Operands::kNeighboursCancel:
        return i < k_ / 2 * 2 ? Bits(seed, row, PairOf(i)) : 0;
      case Operands::kOneLarge:
        return i == LargeOf(row) ? 64 : kAllBits / 64;
      case Operands::kAllAlike:
        return kAllBits - (row % 3) / 128.0;
      case Operands::kAllExponents:
        return Spread(seed, row, i);
      case Operands::kSubnormal:
        return std::ldexp(static_cast<double>(1 + Hash(seed, row, i) % (fp16_ ? 1023 : 127)),
                          fp16_ ? -24 : -133);
    }
    return 0;
  }
  double B(uint64_t seed, int64_t i, int64_t col) const {
    switch (operands_) {
      case Operands::kUniform:
        return 0;
      case Operands::kHalvesCancel:
      case Operands::kNeighboursCancel: {
        const double value = Bits(seed, col, PairOf(i));
        return IsSecond(i) ? -(value + 1 / 128.0) : value;
      }
      case Operands::kOneLarge:
        // Two of the three meet a small one of A: 2, which is small beside 2^12, too.
        return i == 0 || i == k_ / 2 || i == k_ - 1
                   ? 64
                   : std::ldexp(kAllBits, static_cast<int>(col % 6) - 9);
      case Operands::kAllAlike:
        return kAllBits - (col % 5) / 128.0;
      case Operands::kAllExponents:
        return Spread(seed, col, i);
      case Operands::kSubnormal:
        // Not so small that sums of BF16 would have no bits in FP32.
        return std::ldexp(Bits(seed, col, i),
                          fp16_ ? (col % 2 == 0 ? 0 : -14) : (col % 2 == 0 ? 60 : 100));
    }
    return 0;
  }

 private:
  static constexpr double kAllBits = 2 - 1 / 128.0;  // 8 of them, as many as BF16 has.

  uint64_t Hash(uint64_t seed, int64_t line, int64_t i) const {
    return Mix64(Mix64(seed) ^ static_cast<uint64_t>(line * k_ + i)) >> 20;
  }
  // 1, 1 + 1/64, ..., 2 - 1/64.
  double Bits(uint64_t seed, int64_t line, int64_t i) const {
    return 1 + static_cast<double>(Hash(seed, line, i) % 64) / 64;
  }
  // Either sign, and 7 bits; in FP16 those of subnormal numbers are rounded where they are stored.
  double Spread(uint64_t seed, int64_t line, int64_t i) const {
    const uint64_t hash = Hash(seed, line, i);
    const int exponent = fp16_ ? static_cast<int>(hash % 27) - 24    // 2^-24 to 8.
                               : static_cast<int>(hash % 101) - 60;  // 2^-60 to 2^41.
    return std::ldexp((hash & (1u << 20)) != 0 ? Bits(seed, line, i) : -Bits(seed, line, i),
                      exponent);
  }
  int64_t PairOf(int64_t i) const {
    return operands_ == Operands::kHalvesCancel ? i % std::max<int64_t>(k_ / 2, 1) : i / 2;
  }
  bool IsSecond(int64_t i) const {
    return operands_ == Operands::kHalvesCancel ? i >= k_ / 2 : i % 2 == 1;
  }
  int64_t LargeOf(int64_t row) const { return row % 3 == 0 ? 0 : row % 3 == 1 ? k_ / 2 : k_ - 1; }

  Operands operands_;
  bool fp16_;
  int64_t k_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_HARD_OPERANDS_H_
