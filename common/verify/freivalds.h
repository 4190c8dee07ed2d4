// Checks of C = A * B for products too large to compute a second time.
//
// Freivalds: for a vector x of random signs, C x = A (B x) costs O(MN + MK + KN) and fails if C is
// wrong. An error e_ij reaches row i of r = C x - A (B x) as sum_j e_ij x_j. The signs are random
// even if the errors are not, so these sums are random walks with E r_i^2 = sum_j e_ij^2: ||r||
// estimates ||C - A B||_F, and |r_i| is about sqrt(N) typical |e_ij|. An error in most entries
// shows in the norm, an error in few entries in their rows. A single wrong entry must exceed the
// rounding of its row: by 1 for U[-1, 1] floats with N = K = 26000, where entries have a standard
// deviation of 54. SampledEntries() checks corners and tile edges more closely.
//
// A is M x K, B is K x N, C is M x N. A and B are float, double, Bf16 or Fp16; C is of the same
// type or, where A and B have 16 bits, float. A and B may be int8_t, with C of int32_t, or E4m3 or
// E5m2, with C of float, Bf16 or Fp16. All sums are wider than the data (long double for double,
// double for the others), so that only C's own rounding is seen. Large matrices are read by as many
// threads as host implementations use.

#ifndef STRIDEWISE_COMMON_VERIFY_FREIVALDS_H_
#define STRIDEWISE_COMMON_VERIFY_FREIVALDS_H_

#include <cstdint>

#include "common/base/matrix.h"
#include "common/verify/validation.h"

namespace stridewise {

// Which operands are stored transposed, A as K x M and B as N x K.
struct TransposedOperands {
  bool a = false;
  bool b = false;
};

// Returns the error to accept in a row of r, over u (|A| (|B| 1))_i: min(K, 16 / sqrt(N)).
//
// EntryTolerance lets an entry be off by 16 u (|A||B|)_ij, which is 29 sigma, cut off at the proven
// bound. With random signs the N errors of a row add up to sqrt(N) times one error, while their
// (|A||B|)_ij add up to N times one. The row's sum is a random walk even where an entry has too few
// roundings for one, so that the 16 is cut off only at the proven bound of the whole row, K. Sums
// of tensor cores drift: 1 + sqrt(K)/12 as much. Rounded operands add 16 w / u / sqrt(K N), or 2 w
// / u where that is less.
double ResidualTolerance(int64_t k_extent, int64_t cols,
                         const ProductAccuracy& accuracy = AccuracyOf<float>());

// Multiplies C by `rounds` >= 1 random vectors. Sets relative_error to the estimate
// ||r|| / sqrt(rounds) / ||C||_F, max_residual_over_tolerance, worst_residual_row and non_finite
// (with worst_row, worst_col at the first such entry). The norm of C stands in for the norm of the
// reference, whose product with x may be near 0 by chance where M is small. Reads all matrices row
// by row.
template <typename T, typename Out>
ProductError FreivaldsCheck(ConstMatrix<T> a, ConstMatrix<T> b, ConstMatrix<Out> c, uint64_t seed,
                            int rounds, const ProductAccuracy& accuracy = AccuracyOf<T>(),
                            const TransposedOperands& transposed = {});

// Computes the corners, the entries beside the edges of 32-, 64- and 128-wide tiles, and 64 random
// entries (at most 145 in all) and sets max_error_over_bound, worst_row and worst_col. O(K) for
// each entry.
template <typename T, typename Out>
ProductError SampledEntries(ConstMatrix<T> a, ConstMatrix<T> b, ConstMatrix<Out> c, uint64_t seed,
                            const ProductAccuracy& accuracy = AccuracyOf<T>(),
                            const TransposedOperands& transposed = {});

// Runs both checks above, with two rounds, and returns what CheckProduct() needs to judge C.
template <typename T, typename Out>
ProductError CheckProductFast(ConstMatrix<T> a, ConstMatrix<T> b, ConstMatrix<Out> c, uint64_t seed,
                              const ProductAccuracy& accuracy = AccuracyOf<T>(),
                              const TransposedOperands& transposed = {});

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_VERIFY_FREIVALDS_H_
