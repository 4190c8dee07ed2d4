// The panels of SUMMA as one rank sees them: those of each block of k, which ranks own them, where
// the rank's own lie, and how they reach the others. summa.cc multiplies one after the other,
// device_summa.cc several at once.

#ifndef STRIDEWISE_MATMUL_DISTRIBUTED_SUMMA_PANELS_H_
#define STRIDEWISE_MATMUL_DISTRIBUTED_SUMMA_PANELS_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/communicator.h"
#include "matmul/distributed/summa.h"
#include "matmul/matmul.h"

namespace stridewise {

// The panels of one block of k.
template <typename T>
struct SummaPanel {
  int64_t k = 0;                    // Columns of A and rows of B.
  int a_owner = 0;                  // The column of the grid that has the panel of A,
  int b_owner = 0;                  // and the row that has that of B.
  std::optional<ConstMatrix<T>> a;  // The part of this rank, where it has one.
  std::optional<ConstMatrix<T>> b;
};

// Returns where the blocks of k of each step begin. The panels of a step's blocks are owned by the
// same column and the same row of the grid, so that they are sent and multiplied as one, of at most
// `k` together or of one block. The first step has one block, for nothing hides its broadcast, and
// each further one up to twice as many as the one before, which hides its. Of the different owners
// those of block number `first_owners` come first, and the others behind them in turn.
inline std::vector<std::vector<int64_t>> SummaSteps(const BlockCyclicDimension& of_a,
                                                    const BlockCyclicDimension& of_b, int64_t k,
                                                    int64_t first_owners = 0) {
  const int64_t all = std::max<int64_t>(k / of_a.block, 1);
  const int64_t owners = std::lcm(of_a.parts, of_b.parts);
  std::vector<std::vector<int64_t>> steps;
  int64_t most = 1;  // Of the next step.
  for (int64_t turn = 0; turn < owners; ++turn) {
    const int64_t owner = (first_owners + turn) % owners;
    int64_t left = 0;  // Of the last step, which is another owner's.
    for (int64_t first = owner * of_a.block; first < of_a.extent; first += owners * of_a.block) {
      if (left == 0) {
        steps.emplace_back();
        left = most;
        most = std::min(2 * most, all);
      }
      steps.back().push_back(first);
      --left;
    }
  }
  return steps;
}

// REQUIRES: CheckSumma() accepts the problem. Borrows both arguments.
template <typename T, typename Out = T>
class SummaPanels {
 public:
  SummaPanels(const SummaProblem<T, Out>& problem, Communicator* communicator)
      : problem_(problem),
        communicator_(*communicator),
        grid_(problem.c_layout.grid),
        my_row_(grid_.Row(communicator->rank())),
        my_col_(grid_.Col(communicator->rank())),
        row_ranks_(grid_.RanksOfRow(my_row_)),
        col_ranks_(grid_.RanksOfCol(my_col_)) {}

  int64_t k() const { return problem_.a_layout.cols.extent; }
  int64_t block() const { return problem_.a_layout.cols.block; }
  int64_t widest() const { return std::min(block(), k()); }  // The k of the largest panel.

  // Returns the local product without its operands.
  MatMulProblem WithoutOperands() const {
    MatMulProblem local;
    local.m = problem_.c.rows;
    local.n = problem_.c.cols;
    local.c = {problem_.c.data, problem_.c.ld};
    local.alpha = problem_.alpha;
    local.beta = problem_.beta;
    return local;
  }

  // Returns the panels that begin at `first` of k, a multiple of block().
  SummaPanel<T> At(int64_t first) const {
    const BlockCyclicDimension& of_a = problem_.a_layout.cols;
    const BlockCyclicDimension& of_b = problem_.b_layout.rows;
    const ConstMatrix<T>& a = problem_.a;
    const ConstMatrix<T>& b = problem_.b;
    SummaPanel<T> panel;
    panel.k = std::min(block(), k() - first);
    panel.a_owner = static_cast<int>(of_a.Owner(first));
    panel.b_owner = static_cast<int>(of_b.Owner(first));
    if (my_col_ == panel.a_owner) {
      panel.a = {a.data + of_a.LocalIndex(first), problem_.c.rows, panel.k, a.ld};
    }
    if (my_row_ == panel.b_owner) {
      panel.b = {b.data + of_b.LocalIndex(first) * b.ld, panel.k, problem_.c.cols, b.ld};
    }
    return panel;
  }

  // Returns the same, with the panels of whichever rank has them: parts are those of all ranks.
  SummaPanel<T> AtOwners(int64_t first, const std::vector<MatMulInput>& parts_of_a,
                         const std::vector<MatMulInput>& parts_of_b) const {
    SummaPanel<T> panel = At(first);
    const MatMulInput& a = parts_of_a[grid_.Rank(my_row_, panel.a_owner)];
    const MatMulInput& b = parts_of_b[grid_.Rank(panel.b_owner, my_col_)];
    panel.a = {static_cast<const T*>(a.data) + problem_.a_layout.cols.LocalIndex(first),
               problem_.c.rows, panel.k, a.ld};
    panel.b = {static_cast<const T*>(b.data) + problem_.b_layout.rows.LocalIndex(first) * b.ld,
               panel.k, problem_.c.cols, b.ld};
    return panel;
  }

  // Returns the number of the first block of which this rank has the panel of A, or else that of B,
  // and of both if there is one.
  int64_t FirstOwn() const {
    const BlockCyclicDimension& of_a = problem_.a_layout.cols;
    const BlockCyclicDimension& of_b = problem_.b_layout.rows;
    const int64_t all = std::lcm(of_a.parts, of_b.parts);
    for (int64_t number = 0; number < all; ++number) {
      if (number % of_a.parts == my_col_ && number % of_b.parts == my_row_) return number;
    }
    return of_a.parts > 1 ? my_col_ : my_row_;
  }

  // Sends the owners' panels, which lie in `a` and `b` without gaps, to those of the other ranks.
  absl::Status Broadcast(const SummaPanel<T>& panel, T* a, T* b) const {
    RETURN_IF_ERROR(communicator_.Broadcast(row_ranks_, grid_.Rank(my_row_, panel.a_owner), a,
                                            problem_.c.rows * panel.k * sizeof(T)));
    return communicator_.Broadcast(col_ranks_, grid_.Rank(panel.b_owner, my_col_), b,
                                   panel.k * problem_.c.cols * sizeof(T));
  }

 private:
  const SummaProblem<T, Out>& problem_;
  Communicator& communicator_;
  const RankGrid& grid_;
  int my_row_;
  int my_col_;
  std::vector<int> row_ranks_;
  std::vector<int> col_ranks_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISTRIBUTED_SUMMA_PANELS_H_
