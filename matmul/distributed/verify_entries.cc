// The entries that VerifyProduct() computes anew, in FP64 and wider.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "common/base/status_macros.h"
#include "common/verify/fill.h"
#include "common/verify/validation.h"
#include "matmul/distributed/verify.h"

namespace stridewise {
namespace {

// Rows, and columns, whose entries are compared: the first, the last, and others of the seed.
constexpr int64_t kSampled = 8;

std::vector<int64_t> SampledIndices(int64_t extent, uint64_t seed) {
  std::vector<int64_t> indices;
  if (extent > 0) indices = {0, extent - 1};
  for (uint64_t i = 2; extent > 0 && i < kSampled; ++i) {
    indices.push_back(static_cast<int64_t>(Mix64(Mix64(seed) + i) % static_cast<uint64_t>(extent)));
  }
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

// Calls write(s, local) for each of the sampled indices that a part owns.
template <typename Write>
void ForOwned(const BlockCyclicDimension& dimension, int64_t part,
              const std::vector<int64_t>& sampled, const Write& write) {
  for (size_t s = 0; s < sampled.size(); ++s) {
    if (dimension.Owner(sampled[s]) == part) write(s, dimension.LocalIndex(sampled[s]));
  }
}

}  // namespace

template <typename T, typename Out>
absl::Status VerifySampledEntries(const SummaProblem<T, Out>& problem, ConstMatrix<Out> c_before,
                                  uint64_t seed, Communicator* communicator) {
  const int rank = communicator->rank();
  const int64_t grid_row = problem.c_layout.grid.Row(rank);
  const int64_t grid_col = problem.c_layout.grid.Col(rank);
  const int64_t k = problem.a_layout.cols.extent;
  const std::vector<int64_t> rows = SampledIndices(problem.c_layout.rows.extent, seed);
  const std::vector<int64_t> cols = SampledIndices(problem.c_layout.cols.extent, seed + 1);
  // Each is one rank's, and the sum is exact.
  std::vector<double> a(rows.size() * k), b(cols.size() * k);
  std::vector<double> got(rows.size() * cols.size()), before(got.size());
  ForOwned(problem.a_layout.rows, grid_row, rows, [&](size_t s, int64_t i) {
    for (int64_t j = 0; j < problem.a.cols; ++j) {
      a[s * k + problem.a_layout.GlobalCol(rank, j)] = static_cast<double>(problem.a(i, j));
    }
  });
  ForOwned(problem.b_layout.cols, grid_col, cols, [&](size_t s, int64_t j) {
    for (int64_t i = 0; i < problem.b.rows; ++i) {
      b[s * k + problem.b_layout.GlobalRow(rank, i)] = static_cast<double>(problem.b(i, j));
    }
  });
  ForOwned(problem.c_layout.rows, grid_row, rows, [&](size_t r, int64_t i) {
    ForOwned(problem.c_layout.cols, grid_col, cols, [&](size_t c, int64_t j) {
      got[r * cols.size() + c] = static_cast<double>(problem.c(i, j));
      if (problem.beta != 0) before[r * cols.size() + c] = static_cast<double>(c_before(i, j));
    });
  });
  for (std::vector<double>* const values : {&a, &b, &got, &before}) {
    RETURN_IF_ERROR(communicator->Sum(absl::MakeSpan(*values)));
  }

  const ProductAccuracy accuracy =
      AccuracyOf(kElementTypeOf<T>, kElementTypeOf<Out>, kElementTypeOf<Out>);
  const double of_magnitude =
      EntryTolerance(k + 2, accuracy) * static_cast<double>(k + 2) * accuracy.unit;
  using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < cols.size(); ++c) {
      const size_t entry = r * cols.size() + c;
      Wide sum = 0, magnitude = 0;
      for (int64_t l = 0; l < k; ++l) {
        const Wide product = static_cast<Wide>(a[r * k + l]) * b[c * k + l];
        sum += product;
        magnitude += std::abs(product);
      }
      const Wide want = problem.alpha * sum + problem.beta * before[entry];
      magnitude = std::abs(problem.alpha) * magnitude + std::abs(problem.beta * before[entry]);
      const double over = OverBound(static_cast<double>(std::abs(got[entry] - want)),
                                    of_magnitude * static_cast<double>(magnitude));
      if (over <= 1) continue;
      return absl::DataLossError(absl::StrCat("C(", rows[r], ", ", cols[c], ") is ", got[entry],
                                              ", ", over, " x tolerance from ",
                                              static_cast<double>(want)));
    }
  }
  return absl::OkStatus();
}

template absl::Status VerifySampledEntries(const SummaProblem<float>&, ConstMatrix<float>, uint64_t,
                                           Communicator*);
template absl::Status VerifySampledEntries(const SummaProblem<Bf16, float>&, ConstMatrix<float>,
                                           uint64_t, Communicator*);
template absl::Status VerifySampledEntries(const SummaProblem<double>&, ConstMatrix<double>,
                                           uint64_t, Communicator*);

}  // namespace stridewise
