// A rank's part of a matrix that tests fill.

#ifndef STRIDEWISE_MATMUL_DISTRIBUTED_FILLED_PART_H_
#define STRIDEWISE_MATMUL_DISTRIBUTED_FILLED_PART_H_

#include <cstdint>
#include <vector>

#include "common/base/matrix.h"
#include "common/distributed/block_cyclic.h"
#include "common/verify/fill.h"

namespace stridewise {

// A rank's part of a matrix with this layout, with padding: a row more than it has, and rows 3
// elements further apart. Element (r, c) of the whole is UniformAt(seed, r * columns + c), so that
// it does not depend on the layout.
template <typename T>
struct FilledPart {
  FilledPart(const BlockCyclicLayout& layout, int rank, uint64_t seed)
      : values((layout.LocalRows(rank) + 1) * (layout.LocalCols(rank) + 3)),
        view{values.data(), layout.LocalRows(rank), layout.LocalCols(rank),
             layout.LocalCols(rank) + 3} {
    for (int64_t i = 0; i < view.rows; ++i) {
      for (int64_t j = 0; j < view.cols; ++j) {
        const int64_t index =
            layout.GlobalRow(rank, i) * layout.cols.extent + layout.GlobalCol(rank, j);
        view(i, j) = UniformAt<T>(seed, index);
      }
    }
  }

  std::vector<T> values;
  Matrix<T> view;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISTRIBUTED_FILLED_PART_H_
