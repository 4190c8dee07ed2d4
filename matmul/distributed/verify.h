// Checks a distributed product without any rank holding a whole matrix: Freivalds' check (see
// common/verify/freivalds.h) whose vectors are sums over ranks, and entries that are computed anew.

#ifndef STRIDEWISE_MATMUL_DISTRIBUTED_VERIFY_H_
#define STRIDEWISE_MATMUL_DISTRIBUTED_VERIFY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "common/distributed/communicator.h"
#include "matmul/distributed/summa.h"

namespace stridewise {

// Checks some entries of problem.c, those at the corners and up to 60 others of the seed, against
// sums that are wider than the data, which every rank computes: each holds 16 vectors of k
// elements. Finds an error of one entry that is lost in the rounding of its row. Otherwise as
// VerifyProduct(), which makes this call.
template <typename T, typename Out>
absl::Status VerifySampledEntries(const SummaProblem<T, Out>& problem, ConstMatrix<Out> c_before,
                                  uint64_t seed, Communicator* communicator);

// Checks that problem.c is alpha * A * B + beta * C0, where `c_before` is this rank's part of C0
// (not read where beta is 0). Makes two random vectors of signs, each from the seed and the global
// column. All ranks make the call, of a problem that Summa() took; each holds vectors of k and of
// m elements.
//
// Returns, on all ranks alike, DataLoss that names the worst row where the residual of a row is
// above its tolerance: that of ResidualTolerance() for a sum of k + 2, twice that for double, whose
// reference is hardly more precise; or that names a sampled entry. Returns what the communicator
// does where that fails.
template <typename T, typename Out>
absl::Status VerifyProduct(const SummaProblem<T, Out>& problem, ConstMatrix<Out> c_before,
                           uint64_t seed, Communicator* communicator);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISTRIBUTED_VERIFY_H_
