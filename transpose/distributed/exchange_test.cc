#include "transpose/distributed/exchange.h"

#include <cstdint>
#include <vector>

#include "common/distributed/local_ranks.h"
#include "gtest/gtest.h"
#include "transpose/on_host.h"

namespace stridewise {
namespace {

constexpr double kSeconds = 20;
constexpr int64_t kPadding = 2;
constexpr int kPoison = -1;

// Element (r, c) is r * cols + c, of which each rank checks its part of the result.
template <typename T>
void TestTranspose(int64_t rows, int64_t cols, const BlockCyclicLayout& in,
                   const BlockCyclicLayout& out) {
  const auto results = RunLocalRanks(in.grid.size(), kSeconds, [&](TcpCommunicator* ranks) {
    const int rank = ranks->rank();
    const int64_t in_ld = in.LocalCols(rank) + kPadding;
    const int64_t out_ld = out.LocalCols(rank) + kPadding;
    std::vector<T> from(in.LocalRows(rank) * in_ld);
    std::vector<T> to(out.LocalRows(rank) * out_ld, static_cast<T>(kPoison));
    for (int64_t i = 0; i < in.LocalRows(rank); ++i) {
      for (int64_t j = 0; j < in.LocalCols(rank); ++j) {
        from[i * in_ld + j] = static_cast<T>(in.GlobalRow(rank, i) * cols + in.GlobalCol(rank, j));
      }
    }
    const absl::Status status = DistributedTranspose(
        in, {from.data(), in.LocalRows(rank), in.LocalCols(rank), in_ld, sizeof(T)}, out,
        {to.data(), out.LocalRows(rank), out.LocalCols(rank), out_ld, sizeof(T)}, TransposeOnHost,
        ranks);
    for (int64_t i = 0; i < out.LocalRows(rank); ++i) {
      for (int64_t j = 0; j < out_ld; ++j) {
        const T want = j < out.LocalCols(rank)
                           ? static_cast<T>(out.GlobalCol(rank, j) * cols + out.GlobalRow(rank, i))
                           : static_cast<T>(kPoison);
        EXPECT_EQ(to[i * out_ld + j], want) << i << ", " << j << " of rank " << rank;
      }
    }
    return status;
  });
  for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rows, in.rows.extent);
}

TEST(DistributedTransposeTest, MovesEveryElement) {
  for (const RankGrid grid : {RankGrid{1, 1}, {1, 4}, {2, 2}, {4, 1}, {2, 3}}) {
    for (const auto& [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 0}, {0, 7}, {7, 0}, {1, 1}, {1, 31}, {31, 1}, {37, 23}, {64, 64}}) {
      for (const int64_t block : {1, 5, 100}) {
        SCOPED_TRACE(testing::Message() << rows << "x" << cols << " in blocks of " << block
                                        << " on " << grid.rows << "x" << grid.cols);
        const auto in = *BlockCyclicLayout::Create(rows, cols, block, 3, grid);
        TestTranspose<float>(rows, cols, in,
                             *BlockCyclicLayout::Create(cols, rows, 3, block, grid));
        // To other blocks, and another grid of as many ranks.
        TestTranspose<double>(rows, cols, in,
                              *BlockCyclicLayout::Create(cols, rows, 4, 7, {grid.cols, grid.rows}));
      }
    }
  }
}

TEST(DistributedTransposeTest, RefusesWhatDoesNotFit) {
  RunLocalRanks(1, kSeconds, [](TcpCommunicator* ranks) {
    const BlockCyclicLayout layout = *BlockCyclicLayout::Create(4, 4, 2, 2, {1, 1});
    const BlockCyclicLayout larger = *BlockCyclicLayout::Create(4, 5, 2, 2, {1, 1});
    const BlockCyclicLayout four = *BlockCyclicLayout::Create(4, 4, 2, 2, {2, 2});
    std::vector<float> from(20), to(20);
    const MatrixView in = {from.data(), 4, 4, 4, 4};
    const auto refuses = [&](const char* name, const BlockCyclicLayout& in_layout,
                             const BlockCyclicLayout& out_layout, const MutableMatrixView& out) {
      const absl::Status status =
          DistributedTranspose(in_layout, in, out_layout, out, TransposeOnHost, ranks);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
      EXPECT_EQ(status.message().find(name), 0u) << status;
    };
    refuses("in: a grid", four, layout, {to.data(), 4, 4, 4, 4});
    refuses("out: a part", layout, layout, {to.data(), 4, 4, 3, 4});
    refuses("out: is not", layout, larger, {to.data(), 4, 5, 5, 4});
    refuses("out: is not", layout, layout, {to.data(), 4, 4, 4, 2});
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace stridewise
