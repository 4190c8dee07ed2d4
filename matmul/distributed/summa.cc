#include "matmul/distributed/summa.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

bool SameDimension(const BlockCyclicDimension& a, const BlockCyclicDimension& b) {
  return a.extent == b.extent && a.block == b.block && a.parts == b.parts;
}

// Whether blocks of k may be dealt to another number of parts.
bool SameBlocks(const BlockCyclicDimension& a, const BlockCyclicDimension& b) {
  return a.extent == b.extent && a.block == b.block;
}

// Copies columns or rows, one after the other without gaps.
template <typename T>
void Pack(ConstMatrix<T> from, T* to) {
  for (int64_t row = 0; row < from.rows; ++row) {
    std::copy_n(from.data + row * from.ld, from.cols, to + row * from.cols);
  }
}

}  // namespace

template <typename T>
absl::Status CheckSumma(const SummaProblem<T>& problem, const Communicator& communicator) {
  const auto check_part = [&](const char* name, const auto& part, const BlockCyclicLayout& layout) {
    return CheckPart(name, part.rows, part.cols, part.ld, layout, communicator.rank(),
                     communicator.size());
  };
  RETURN_IF_ERROR(check_part("a", problem.a, problem.a_layout));
  RETURN_IF_ERROR(check_part("b", problem.b, problem.b_layout));
  RETURN_IF_ERROR(check_part("c", problem.c, problem.c_layout));
  const auto& [a, b, c] = std::tie(problem.a_layout, problem.b_layout, problem.c_layout);
  if (!SameDimension(a.rows, c.rows)) {
    return absl::InvalidArgumentError("a: its rows are not laid out as those of c");
  }
  if (!SameDimension(b.cols, c.cols)) {
    return absl::InvalidArgumentError("b: its columns are not laid out as those of c");
  }
  if (!SameBlocks(a.cols, b.rows)) {
    return absl::InvalidArgumentError("b: its rows are not in the blocks of the columns of a");
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Summa(const SummaProblem<T>& problem, const LocalProduct& multiply,
                   Communicator* communicator) {
  RETURN_IF_ERROR(CheckSumma(problem, *communicator));
  const RankGrid& grid = problem.c_layout.grid;
  const int my_row = grid.Row(communicator->rank());
  const int my_col = grid.Col(communicator->rank());
  const std::vector<int> row_ranks = grid.RanksOfRow(my_row);
  const std::vector<int> col_ranks = grid.RanksOfCol(my_col);
  const BlockCyclicDimension& of_a = problem.a_layout.cols;
  const BlockCyclicDimension& of_b = problem.b_layout.rows;
  const int64_t k = of_a.extent;
  const int64_t widest = std::min(of_a.block, k);
  const std::unique_ptr<T[]> a(new (std::nothrow) T[problem.a.rows * widest]);
  const std::unique_ptr<T[]> b(new (std::nothrow) T[widest * problem.b.cols]);
  if (a == nullptr || b == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for panels of ", widest, " of k"));
  }

  MatMulProblem local;
  local.m = problem.c.rows;
  local.n = problem.c.cols;
  local.c = {problem.c.data, problem.c.ld};
  local.alpha = problem.alpha;
  local.beta = problem.beta;
  local.a = {static_cast<const T*>(a.get()), 0};
  local.b = {static_cast<const T*>(b.get()), local.n};
  if (k == 0) return multiply(local);
  for (int64_t first = 0; first < k; first += of_a.block) {
    local.k = std::min(of_a.block, k - first);
    const auto a_owner = static_cast<int>(of_a.Owner(first));
    const auto b_owner = static_cast<int>(of_b.Owner(first));
    if (my_col == a_owner) {
      Pack<T>({problem.a.data + of_a.LocalIndex(first), local.m, local.k, problem.a.ld}, a.get());
    }
    if (my_row == b_owner) {
      const int64_t row = of_b.LocalIndex(first);
      Pack<T>({problem.b.data + row * problem.b.ld, local.k, local.n, problem.b.ld}, b.get());
    }
    RETURN_IF_ERROR(communicator->Broadcast(row_ranks, grid.Rank(my_row, a_owner), a.get(),
                                            local.m * local.k * sizeof(T)));
    RETURN_IF_ERROR(communicator->Broadcast(col_ranks, grid.Rank(b_owner, my_col), b.get(),
                                            local.k * local.n * sizeof(T)));
    local.a.ld = local.k;
    RETURN_IF_ERROR(multiply(local));
    local.beta = 1;
  }
  return absl::OkStatus();
}

template absl::Status CheckSumma(const SummaProblem<float>&, const Communicator&);
template absl::Status CheckSumma(const SummaProblem<double>&, const Communicator&);
template absl::Status Summa(const SummaProblem<float>&, const LocalProduct&, Communicator*);
template absl::Status Summa(const SummaProblem<double>&, const LocalProduct&, Communicator*);

}  // namespace stridewise
