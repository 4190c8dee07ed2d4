// Products of matrices that are spread over the ranks of a grid: SUMMA with C stationary (van de
// Geijn, Watts: SUMMA: Scalable Universal Matrix Multiplication Algorithm, 1997).
//
// For each panel of a block of k, the ranks that own the panel of A broadcast it along their rows
// of the grid, those that own the panel of B along their columns, and each rank multiplies the two
// into its part of C. C is not sent. A rank receives m k / P + k n / Q elements, on a grid of P x
// Q, and holds one panel of each at a time. Nothing overlaps.

#ifndef STRIDEWISE_MATMUL_DISTRIBUTED_SUMMA_H_
#define STRIDEWISE_MATMUL_DISTRIBUTED_SUMMA_H_

#include <functional>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/communicator.h"
#include "matmul/matmul.h"

namespace stridewise {

// Multiplies row-major matrices of this rank: MatMulOnHost(), or another with its contract that
// returns when C is written.
using LocalProduct = std::function<absl::Status(const MatMulProblem&)>;

// C = alpha * A * B + beta * C. A is m x k, B k x n, C m x n, over one grid, with equal blocks of
// m, of n and of k. The local parts are those of the calling rank.
template <typename T, typename Out = T>
struct SummaProblem {
  BlockCyclicLayout a_layout;
  BlockCyclicLayout b_layout;
  BlockCyclicLayout c_layout;
  ConstMatrix<T> a;
  ConstMatrix<T> b;
  Matrix<Out> c;
  double alpha = 1;
  double beta = 0;  // 0: C is not read.
};

// Computes the problem; all ranks of the communicator make the call. T is float or double. With k =
// 0 scales C by beta.
//
// Returns what CheckSumma() does, ResourceExhausted where there is no memory for the panels, and
// what the communicator and the local product return. C is then unspecified.
template <typename T>
absl::Status Summa(const SummaProblem<T>& problem, const LocalProduct& multiply,
                   Communicator* communicator);

// Returns InvalidArgument, naming the argument, for layouts or local parts that do not fit each
// other or the communicator.
template <typename T, typename Out>
absl::Status CheckSumma(const SummaProblem<T, Out>& problem, const Communicator& communicator);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISTRIBUTED_SUMMA_H_
