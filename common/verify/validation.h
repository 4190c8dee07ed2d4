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
// Every comparison with a NaN fails.

#ifndef STRIDEWISE_COMMON_VERIFY_VALIDATION_H_
#define STRIDEWISE_COMMON_VERIFY_VALIDATION_H_

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "common/base/matrix.h"

namespace stridewise {

// UnitRoundoff() of element_type.h for a type of C++, as a constant (validation_test compares
// them): 2^-24 for float, 2^-53 for double.
template <typename T>
inline constexpr double kUnitRoundoff = std::numeric_limits<T>::epsilon() / 2.0;

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

  // Only if not exhaustive: the worst error of a row of C x - A (B x) over the error to accept
  // there (freivalds.h); at most 1 is right.
  double max_residual_over_tolerance = 0;
  int64_t worst_residual_row = -1;
};

// Compares C with the reference R entry by entry; `abs_product` is |A||B| in FP64. All three have
// the same shape; `k_extent` is K >= 0. An entry that is not finite in C or in R counts as
// non_finite: such a reference proves nothing. O(M N). Instantiated for float and double.
template <typename T>
ProductError CompareProduct(ConstMatrix<T> c, ConstMatrix<double> r,
                            ConstMatrix<double> abs_product, int64_t k_extent);

// Sets relative_error and norm_error from ||C - R||_F, ||R||_F and || |A||B| ||_F; to infinity if
// an entry is not finite.
void SetNormErrors(double difference_norm, double norm, double abs_norm, int64_t k_extent,
                   ProductError* error);

// Returns difference / bound for difference >= 0: 0 for a difference of 0, even where the bound is
// 0, and infinity for NaN.
double OverBound(double difference, double bound);

// Returns the largest max_error_over_bound to accept: min(1, 16 / K), where 1 is the proven bound.
double EntryTolerance(int64_t k_extent);

// Returns the largest norm_error to accept: (2 sqrt(K) + 2) u.
double NormTolerance(int64_t k_extent, double unit_roundoff);

// Returns OK, or DataLoss with the error that is too large, the entry or row, its value and its
// tolerance. For double the reference is hardly more precise than C, so that all tolerances double.
absl::Status CheckProduct(const ProductError& error, int64_t k_extent, double unit_roundoff);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_VERIFY_VALIDATION_H_
