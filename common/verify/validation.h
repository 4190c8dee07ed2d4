// Judges whether C is the product A * B, against an FP64 reference.
//
// The tolerances follow from K (the k extent) and u (the unit roundoff of C's type), never from a
// fixed epsilon. |c - r| <= K u (|A||B|)_ij is proven for every order of summation, fused or not
// (Jeannerod and Rump 2013), but rounding stays far below that bound, and mistakes would pass below
// it. For A and B random in U[-1, 1], a product a_ik b_kj has the standard deviation 1/3, a partial
// sum of k products sqrt(k)/3, and rounding it adds an error of u/sqrt(3) of that. The K roundings
// add up as a random walk to sigma = u sqrt(K/2) sqrt(K)/3/sqrt(3); 8 sigma is more than the worst
// of 1e8 entries, and (|A||B|)_ij is about K/4: the worst ratio is about 4.4/K. Normwise the same
// walk gives 0.4 sqrt(K) u; SGEMM shows 0.3. The tolerances are about 4 times these values. They
// presume such zero-mean inputs, without underflow.
//
// Tensor cores (toward_zero) cut sums off where FP32 rounds them: at 25 bits of the largest term,
// for each 16 products or so. Such errors do not cancel. Of K/16 sums of about sqrt(K)/3, which
// lose up to 2^-24 of it, the proven bound is still about K u (|A||B|)_ij, and the drift is K u
// sqrt(K)/12 at most: 1/(3 sqrt(K)) of the bound, and K u/4 normwise. These are added to the
// tolerances, with a factor of 4 for the entries.
//
// Rounding the operands first, with a unit roundoff of w, changes a product by up to 2 w of it, and
// by 0.28 w typically for U[-1, 1]: a sum by 1.1 w / sqrt(K) of (|A||B|)_ij, and 0.85 w normwise.
// Up to 16 w / sqrt(K), never more than the proven 2 w, and 2 w normwise are allowed.
//
// Rounding the sum to a narrower C adds half a unit of the entry, and rounding to FP16 up to half
// the distance of its subnormal numbers, whatever the sums are of: both are allowed before an error
// is compared with the bound.
//
// Every comparison with a NaN fails.

#ifndef STRIDEWISE_COMMON_VERIFY_VALIDATION_H_
#define STRIDEWISE_COMMON_VERIFY_VALIDATION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/base/element_type.h"
#include "common/base/matrix.h"

namespace stridewise {

// How exactly a product is computed.
struct ProductAccuracy {
  double unit = 0;           // The unit roundoff of the sums.
  double output_unit = 0;    // That of C, where it is narrower than the sums.
  double output_least = 0;   // Half the distance of C's smallest numbers, where it is of FP16.
  bool toward_zero = false;  // The sums are those of tensor cores.
  double operand_unit = 0;   // The unit roundoff that operands are rounded with first.
};

// Returns what is expected of products with these types of operands and sums.
ProductAccuracy AccuracyOf(ElementType operands, ElementType accumulator, ElementType output);

// Returns that of a product in which everything is of one type, or half that of 16-bit operands
// with sums in FP32.
template <typename T>
ProductAccuracy AccuracyOf() {
  constexpr ElementType kType = kElementTypeOf<T>;
  return AccuracyOf(kType, sizeof(T) < sizeof(float) ? ElementType::kFloat : kType, kType);
}

// The errors of a product.
struct ProductError {
  // ||C - R||_F / ||R||_F; an estimate of it if not `exhaustive`. Infinity if an entry is not
  // finite.
  double relative_error = 0;
  // The error that is judged: ||C - R||_F over the greater of ||R||_F and its expected value for
  // random inputs, 4/3 || |A||B| ||_F / sqrt(K). The two differ where R cancels, as a product with
  // few entries may.
  double norm_error = 0;
  // The worst |c - r| / (K u (|A||B|)_ij) of the entries compared, its row and column (-1 if none
  // was compared), and the number of entries that are NaN or infinite. Where the bound is 0 only
  // the exact value passes. If there are entries that are not finite, the first counts as the
  // worst.
  double max_error_over_bound = 0;
  int64_t worst_row = -1;
  int64_t worst_col = -1;
  int64_t non_finite = 0;
  bool exhaustive = true;  // Every entry was compared with its reference.

  // Only if exhaustive: the median and the maximum of |c - r| / (|A||B|)_ij, whatever C's type
  // rounds to: what the entries of a product are worth, beside those of another type or precision.
  double median_error = 0;
  double max_error = 0;

  // Only if not exhaustive: the worst error of a row of C x - A (B x) over the error to accept
  // there (freivalds.h); at most 1 is right.
  double max_residual_over_tolerance = 0;
  int64_t worst_residual_row = -1;
};

// Compares C with the reference R entry by entry; `abs_product` is |A||B| in FP64. All three have
// the same shape; `k_extent` is K >= 0. An entry that is not finite in C or in R counts as
// non_finite: such a reference proves nothing. O(M N), rows of large matrices in parallel.
// Instantiated for float, double, Bf16, Fp16 and int32_t, whose products are exact: any error is
// too large.
template <typename T>
ProductError CompareProduct(ConstMatrix<T> c, ConstMatrix<double> r,
                            ConstMatrix<double> abs_product, int64_t k_extent,
                            const ProductAccuracy& accuracy = AccuracyOf<T>());

// Sets relative_error and norm_error from ||C - R||_F, ||R||_F and || |A||B| ||_F; to infinity if
// an entry is not finite.
void SetNormErrors(double difference_norm, double norm, double abs_norm, int64_t k_extent,
                   ProductError* error);

// Returns difference / bound for difference >= 0: 0 for a difference of 0, even where the bound is
// 0, and infinity for NaN.
double OverBound(double difference, double bound);

// Returns the part of |got - want| that rounding to C's type does not explain.
double BeyondOutputRounding(double difference, double want, const ProductAccuracy& accuracy);

// Returns the largest max_error_over_bound to accept: min(1, 16 / K), where 1 is the proven bound,
// and for tensor cores min(1, 16 / K + 4/3 / sqrt(K)), and what rounded operands explain.
double EntryTolerance(int64_t k_extent, const ProductAccuracy& accuracy);

// Returns the largest norm_error to accept: (2 sqrt(K) + 2) u, for tensor cores K u / 4 more, and
// the unit roundoffs of a narrower C and, twice, of rounded operands.
double NormTolerance(int64_t k_extent, const ProductAccuracy& accuracy);

// Returns OK, or DataLoss with the error that is too large, the entry or row, its value and its
// tolerance. For double the reference is hardly more precise than C, so that all tolerances double.
absl::Status CheckProduct(const ProductError& error, int64_t k_extent,
                          const ProductAccuracy& accuracy);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_VERIFY_VALIDATION_H_
