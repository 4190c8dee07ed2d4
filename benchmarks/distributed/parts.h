// A rank's parts of seeded matrices, on the host.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_PARTS_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_PARTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/available_memory.h"
#include "common/base/matrix.h"
#include "common/base/parallel_rows.h"
#include "common/base/status_macros.h"
#include "common/distributed/block_cyclic.h"
#include "common/verify/fill.h"

namespace stridewise {

// A rank's part of a matrix, without gaps.
template <typename T>
struct Part {
  std::unique_ptr<T[]> data;
  Matrix<T> view;
};

// Makes one whose elements nobody has written. ResourceExhausted, naming the rank, where the
// machine does not have the memory available: Linux would grant it and kill all ranks later.
template <typename T>
absl::StatusOr<Part<T>> AllocatePart(const BlockCyclicLayout& layout, int rank) {
  const int64_t rows = layout.LocalRows(rank);
  const int64_t cols = layout.LocalCols(rank);
  Part<T> part;
  if (rows * cols <= AvailableHostBytes() / static_cast<int64_t>(sizeof(T))) {
    part.data.reset(new (std::nothrow) T[rows * cols]);
  }
  if (part.data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("rank ", rank, ": no memory for a part of ", rows, "x", cols, " elements"));
  }
  part.view = {part.data.get(), rows, cols, cols};
  return part;
}

// Returns the global index of each column of a rank's part.
inline std::vector<int64_t> GlobalCols(const BlockCyclicLayout& layout, int rank) {
  std::vector<int64_t> cols(layout.LocalCols(rank));
  for (size_t j = 0; j < cols.size(); ++j) {
    cols[j] = layout.GlobalCol(rank, static_cast<int64_t>(j));
  }
  return cols;
}

// Makes one and fills it, each element by its global index: U[-1, 1).
template <typename T>
absl::StatusOr<Part<T>> MakePart(const BlockCyclicLayout& layout, int rank, uint64_t seed) {
  ASSIGN_OR_RETURN(Part<T> part, AllocatePart<T>(layout, rank));
  const std::vector<int64_t> cols = GlobalCols(layout, rank);
  ForRowsInParallel(part.view.rows, part.view.cols, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = layout.GlobalRow(rank, i) * layout.cols.extent;
      for (int64_t j = 0; j < part.view.cols; ++j) {
        part.view(i, j) = UniformAt<T>(seed, row + cols[j]);
      }
    }
  });
  return part;
}

// Returns how many elements of a part of the transpose are not those of the matrix that MakePart()
// makes of this seed.
template <typename T>
int64_t WrongTransposedElements(const BlockCyclicLayout& out_layout, int rank, uint64_t seed,
                                const Matrix<T>& out) {
  std::atomic<int64_t> wrong = 0;
  const std::vector<int64_t> cols = GlobalCols(out_layout, rank);
  ForRowsInParallel(out.rows, out.cols, [&](int64_t begin, int64_t end) {
    int64_t wrong_here = 0;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = out_layout.GlobalRow(rank, i);
      for (int64_t j = 0; j < out.cols; ++j) {
        const T want = UniformAt<T>(seed, cols[j] * out_layout.rows.extent + row);
        if (out(i, j) != want) ++wrong_here;
      }
    }
    wrong += wrong_here;
  });
  return wrong;
}

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_PARTS_H_
