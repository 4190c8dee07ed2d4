#include "matmul/distributed/verify.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "common/base/parallel_rows.h"
#include "common/base/status_macros.h"
#include "common/verify/fill.h"
#include "common/verify/freivalds.h"
#include "common/verify/validation.h"

namespace stridewise {
namespace {

// The two random vectors, and one of ones that multiplies magnitudes.
constexpr int kVectors = 3;
constexpr int kMagnitudes = 2;

double EntryOf(int vector, int64_t index, uint64_t seed) {
  if (vector == kMagnitudes) return 1;
  return Mix64(Mix64(seed + vector) ^ static_cast<uint64_t>(index)) >> 63 ? 1 : -1;
}

// Adds factor * part * x, for each of the vectors x(vector, global column), to y, in which the
// vectors lie one after the other by global row. The sums of a part are wider than T.
template <typename T>
void AddProduct(double factor, ConstMatrix<T> part, const BlockCyclicLayout& layout, int rank,
                const std::function<double(int, int64_t)>& x, std::vector<double>* y) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;
  std::vector<Wide> entries[kVectors];
  for (int vector = 0; vector < kVectors; ++vector) {
    entries[vector].resize(part.cols);
    for (int64_t j = 0; j < part.cols; ++j) {
      entries[vector][j] = x(vector, layout.GlobalCol(rank, j));
    }
  }
  ForRowsInParallel(part.rows, part.cols, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Wide sums[kVectors] = {};
      for (int64_t j = 0; j < part.cols; ++j) {
        const Wide value = part(i, j);
        for (int vector = 0; vector < kMagnitudes; ++vector) {
          sums[vector] += value * entries[vector][j];
        }
        sums[kMagnitudes] += std::abs(value) * entries[kMagnitudes][j];
      }
      for (int vector = 0; vector < kVectors; ++vector) {
        const double scale = vector == kMagnitudes ? std::abs(factor) : factor;
        (*y)[vector * layout.rows.extent + layout.GlobalRow(rank, i)] +=
            static_cast<double>(scale * sums[vector]);
      }
    }
  });
}

}  // namespace

template <typename T, typename Out>
absl::Status VerifyProduct(const SummaProblem<T, Out>& problem, ConstMatrix<Out> c_before,
                           uint64_t seed, Communicator* communicator) {
  const int rank = communicator->rank();
  const int64_t m = problem.c_layout.rows.extent;
  const int64_t n = problem.c_layout.cols.extent;
  const int64_t k = problem.a_layout.cols.extent;
  const auto x = [&](int vector, int64_t index) { return EntryOf(vector, index, seed); };
  std::vector<double> bx(kVectors * k);
  AddProduct<T>(1, problem.b, problem.b_layout, rank, x, &bx);
  RETURN_IF_ERROR(communicator->Sum(absl::MakeSpan(bx)));

  std::vector<double> want(kVectors * m);
  const auto y = [&](int vector, int64_t index) { return bx[vector * k + index]; };
  AddProduct<T>(problem.alpha, problem.a, problem.a_layout, rank, y, &want);
  if (problem.beta != 0) {
    AddProduct<Out>(problem.beta, c_before, problem.c_layout, rank, x, &want);
  }
  std::vector<double> got(kVectors * m);
  AddProduct<Out>(1, problem.c, problem.c_layout, rank, x, &got);
  RETURN_IF_ERROR(communicator->Sum(absl::MakeSpan(want)));
  RETURN_IF_ERROR(communicator->Sum(absl::MakeSpan(got)));

  const ProductAccuracy accuracy =
      AccuracyOf(kElementTypeOf<T>, kElementTypeOf<Out>, kElementTypeOf<Out>);
  const double tolerance = (std::is_same_v<T, double> ? 2 : 1) * accuracy.unit *
                           ResidualTolerance(k + 2, std::max<int64_t>(n, 1), accuracy);
  int64_t worst_row = -1;
  double worst = 0;
  for (int64_t row = 0; row < m; ++row) {
    const double magnitude = want[kMagnitudes * m + row];
    // Where the bound of a row is 0, random signs must not hide entries that cancel.
    double over = magnitude == 0 ? OverBound(got[kMagnitudes * m + row], 0) : 0;
    for (int vector = 0; vector < kMagnitudes; ++vector) {
      const double residual = std::abs(got[vector * m + row] - want[vector * m + row]);
      over = std::max(over, OverBound(residual, tolerance * magnitude));
    }
    if (worst_row < 0 || over > worst) {
      worst_row = row;
      worst = over;
    }
  }
  if (worst <= 1) return VerifySampledEntries(problem, c_before, seed, communicator);
  return absl::DataLossError(
      absl::StrCat("row ", worst_row, " of C is wrong: its residual is ", worst, " x tolerance"));
}

template absl::Status VerifyProduct(const SummaProblem<float>&, ConstMatrix<float>, uint64_t,
                                    Communicator*);
template absl::Status VerifyProduct(const SummaProblem<Bf16, float>&, ConstMatrix<float>, uint64_t,
                                    Communicator*);
template absl::Status VerifyProduct(const SummaProblem<double>&, ConstMatrix<double>, uint64_t,
                                    Communicator*);

}  // namespace stridewise
