#include "common/distributed/block_cyclic.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stridewise {
namespace {

constexpr int64_t kMaxBlock = int64_t{1} << 31;
constexpr int64_t kMaxRanks = int64_t{1} << 20;
constexpr int64_t kMaxElements = int64_t{1} << 60;

absl::Status Refuse(absl::string_view name, int64_t value, absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", value, " is not allowed; allowed is ", allowed));
}

}  // namespace

int64_t BlockCyclicDimension::LocalExtent(int64_t part) const {
  const int64_t whole = extent / block;  // The number of whole blocks.
  const int64_t rest = whole % parts == part ? extent % block : 0;
  return (whole / parts + (part < whole % parts ? 1 : 0)) * block + rest;
}

std::vector<int> RankGrid::RanksOfRow(int row) const {
  std::vector<int> ranks;
  for (int col = 0; col < cols; ++col) ranks.push_back(Rank(row, col));
  return ranks;
}

std::vector<int> RankGrid::RanksOfCol(int col) const {
  std::vector<int> ranks;
  for (int row = 0; row < rows; ++row) ranks.push_back(Rank(row, col));
  return ranks;
}

absl::StatusOr<BlockCyclicLayout> BlockCyclicLayout::Create(int64_t row_extent, int64_t col_extent,
                                                            int64_t row_block, int64_t col_block,
                                                            RankGrid grid) {
  constexpr char kBlocks[] = "1 to 2^31";
  if (row_extent < 0) return Refuse("rows", row_extent, "0 or more");
  if (col_extent < 0) return Refuse("cols", col_extent, "0 or more");
  if (col_extent >= kMaxElements) return Refuse("cols", col_extent, "less than 2^60");
  if (row_extent >= kMaxElements / std::max<int64_t>(col_extent, 1)) {
    return Refuse("rows", row_extent, absl::StrCat("less than 2^60 / cols, ", col_extent));
  }
  if (row_block < 1 || row_block > kMaxBlock) return Refuse("row block", row_block, kBlocks);
  if (col_block < 1 || col_block > kMaxBlock) return Refuse("column block", col_block, kBlocks);
  if (grid.rows < 1 || grid.rows > kMaxRanks) return Refuse("grid rows", grid.rows, "1 to 2^20");
  if (grid.cols < 1 || grid.cols > kMaxRanks / grid.rows) {
    return Refuse("grid columns", grid.cols, "1 to 2^20 / grid rows");
  }
  return BlockCyclicLayout{
      {row_extent, row_block, grid.rows}, {col_extent, col_block, grid.cols}, grid};
}

absl::Status CheckPart(absl::string_view name, int64_t rows, int64_t cols, int64_t ld,
                       const BlockCyclicLayout& layout, int rank, int ranks) {
  if (layout.grid.size() != ranks) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": a grid of ", layout.grid.rows, "x",
                                                   layout.grid.cols, " is not allowed; there are ",
                                                   ranks, " ranks"));
  }
  const int64_t local_rows = layout.LocalRows(rank);
  const int64_t local_cols = layout.LocalCols(rank);
  if (rows == local_rows && cols == local_cols && ld >= cols) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      name, ": a part of ", rows, "x", cols, " with rows ", ld,
      " apart is not allowed; the layout gives this rank ", local_rows, "x", local_cols));
}

}  // namespace stridewise
