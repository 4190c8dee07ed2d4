// Two-dimensional block-cyclic layouts: which rank of a grid owns which element of a matrix, and
// where (ScaLAPACK's distribution with its first block on rank 0; Dongarra, van de Geijn, Walker:
// Scalability Issues Affecting the Design of a Dense Linear Algebra Library, 1994).
//
// Blocks of `block` indices are dealt to the parts of a dimension in turn. Each part keeps its
// blocks in ascending order without gaps. All indices are in 64 bits.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_BLOCK_CYCLIC_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_BLOCK_CYCLIC_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stridewise {

// One dimension. REQUIRES for all functions: extent >= 0, block and parts > 0, and indices that
// exist. BlockCyclicLayout::Create() checks this.
struct BlockCyclicDimension {
  int64_t extent = 0;
  int64_t block = 1;
  int64_t parts = 1;

  // Returns the part that owns a global index.
  int64_t Owner(int64_t global) const { return global / block % parts; }
  // Returns the index of a global index within the part that owns it.
  int64_t LocalIndex(int64_t global) const {
    return global / block / parts * block + global % block;
  }
  // Returns the global index of a local index of a part.
  int64_t GlobalIndex(int64_t part, int64_t local) const {
    return (local / block * parts + part) * block + local % block;
  }
  // Returns the number of indices that a part owns.
  int64_t LocalExtent(int64_t part) const;
};

// Ranks in rows and columns: rank = row * cols + col.
struct RankGrid {
  int rows = 1;
  int cols = 1;

  int size() const { return rows * cols; }
  int Row(int rank) const { return rank / cols; }
  int Col(int rank) const { return rank % cols; }
  int Rank(int row, int col) const { return row * cols + col; }
  // Return the ranks of a row or of a column, ascending.
  std::vector<int> RanksOfRow(int row) const;
  std::vector<int> RanksOfCol(int col) const;
};

// A matrix over a grid: its rows are dealt to the rows of the grid, its columns to the columns.
struct BlockCyclicLayout {
  BlockCyclicDimension rows;
  BlockCyclicDimension cols;
  RankGrid grid;

  // Returns InvalidArgument, naming the argument, for negative extents, blocks that are not 1 to
  // 2^31, grids of no or of more than 2^20 ranks, and extents whose product is 2^60 and more.
  static absl::StatusOr<BlockCyclicLayout> Create(int64_t row_extent, int64_t col_extent,
                                                  int64_t row_block, int64_t col_block,
                                                  RankGrid grid);

  // Return the shape of the part of a rank.
  int64_t LocalRows(int rank) const { return rows.LocalExtent(grid.Row(rank)); }
  int64_t LocalCols(int rank) const { return cols.LocalExtent(grid.Col(rank)); }
  // Return the global index of a row or column of a rank's part.
  int64_t GlobalRow(int rank, int64_t local) const {
    return rows.GlobalIndex(grid.Row(rank), local);
  }
  int64_t GlobalCol(int rank, int64_t local) const {
    return cols.GlobalIndex(grid.Col(rank), local);
  }
  // Returns the rank that owns an element.
  int Owner(int64_t row, int64_t col) const {
    return grid.Rank(static_cast<int>(rows.Owner(row)), static_cast<int>(cols.Owner(col)));
  }
};

// Checks that a rank's part of a matrix, rows `ld` elements apart, is what the layout gives it
// among this number of ranks. Returns InvalidArgument that begins with `name`.
absl::Status CheckPart(absl::string_view name, int64_t rows, int64_t cols, int64_t ld,
                       const BlockCyclicLayout& layout, int rank, int ranks);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_BLOCK_CYCLIC_H_
