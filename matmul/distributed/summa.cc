#include "matmul/distributed/summa.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/half_types.h"
#include "common/base/status_macros.h"
#include "matmul/distributed/summa_panels.h"

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

template <typename T, typename Out>
absl::Status CheckSumma(const SummaProblem<T, Out>& problem, const Communicator& communicator) {
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
  const SummaPanels<T> panels(problem, communicator);
  const int64_t widest = panels.widest();
  const std::unique_ptr<T[]> a(new (std::nothrow) T[problem.a.rows * widest]);
  const std::unique_ptr<T[]> b(new (std::nothrow) T[widest * problem.b.cols]);
  if (a == nullptr || b == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for panels of ", widest, " of k"));
  }

  MatMulProblem local = panels.WithoutOperands();
  local.a = {static_cast<const T*>(a.get()), 0};
  local.b = {static_cast<const T*>(b.get()), local.n};
  if (panels.k() == 0) return multiply(local);
  for (int64_t first = 0; first < panels.k(); first += panels.block()) {
    const SummaPanel<T> panel = panels.At(first);
    if (panel.a) Pack<T>(*panel.a, a.get());
    if (panel.b) Pack<T>(*panel.b, b.get());
    RETURN_IF_ERROR(panels.Broadcast(panel, a.get(), b.get()));
    local.k = panel.k;
    local.a.ld = local.k;
    RETURN_IF_ERROR(multiply(local));
    local.beta = 1;
  }
  return absl::OkStatus();
}

template absl::Status CheckSumma(const SummaProblem<float>&, const Communicator&);
template absl::Status CheckSumma(const SummaProblem<double>&, const Communicator&);
template absl::Status CheckSumma(const SummaProblem<Bf16, float>&, const Communicator&);
template absl::Status Summa(const SummaProblem<float>&, const LocalProduct&, Communicator*);
template absl::Status Summa(const SummaProblem<double>&, const LocalProduct&, Communicator*);

}  // namespace stridewise
