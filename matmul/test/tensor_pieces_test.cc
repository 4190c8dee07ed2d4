// How the last tiles of a product of tensor cores are divided among clusters.

#include "matmul/device/tensor_pieces.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr int kStep = 64;

template <bool kDivides>
std::vector<std::vector<TensorPiece>> PiecesOf(const TensorWork& work) {
  std::vector<std::vector<TensorPiece>> all(work.clusters);
  for (int cluster = 0; cluster < work.clusters; ++cluster) {
    TensorPieces<kStep, kDivides> pieces(work, cluster);
    TensorPiece piece;
    while (pieces.Next(&piece)) all[cluster].push_back(piece);
  }
  return all;
}

struct Case {
  int k, tiles, clusters;
};
constexpr Case kCases[] = {{64, 67, 66},      {1, 90, 66},      {8192, 1024, 66}, {4000, 100, 66},
                           {130, 131, 66},    {16384, 197, 66}, {72, 3, 2},       {200, 3, 2},
                           {12800, 199, 100}, {256, 7, 5},      {100, 2, 1}};

TensorWork WorkOf(const Case& c) {
  return {c.k, c.tiles, (c.tiles / c.clusters - 1) * c.clusters, c.clusters};
}

// Every element of k of every tile is in one piece, and pieces begin with a step.
TEST(TensorPieces, CoverEveryTileOnce) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(testing::Message() << c.k << ", " << c.tiles << " on " << c.clusters);
    std::vector<int> next(c.tiles, 0);
    std::vector<int> covered(c.tiles, 0);
    for (const auto& of_cluster : PiecesOf<true>(WorkOf(c))) {
      for (const TensorPiece& piece : of_cluster) {
        EXPECT_EQ(piece.first % kStep, 0);
        EXPECT_LT(piece.first, piece.last);
        EXPECT_TRUE(piece.last % kStep == 0 || piece.last == c.k);
        covered[piece.tile] += piece.last - piece.first;
        if (piece.first == 0) next[piece.tile] = piece.last;
      }
    }
    for (const auto& of_cluster : PiecesOf<true>(WorkOf(c))) {
      for (const TensorPiece& piece : of_cluster) {
        if (piece.first > 0) {
          EXPECT_EQ(piece.first, next[piece.tile]);
        }
      }
    }
    for (const int elements : covered) EXPECT_EQ(elements, c.k);
  }
}

// Clusters have as many steps as each other, or one more.
TEST(TensorPieces, ShareStepsEvenly) {
  for (const Case& c : kCases) {
    const int64_t steps = (c.k + kStep - 1) / kStep;
    for (const auto& of_cluster : PiecesOf<true>(WorkOf(c))) {
      int64_t sum = 0;
      for (const TensorPiece& piece : of_cluster) {
        sum += (piece.last - piece.first + kStep - 1) / kStep;
      }
      EXPECT_GE(sum, c.tiles * steps / c.clusters) << c.tiles;
      EXPECT_LE(sum, c.tiles * steps / c.clusters + 1) << c.tiles;
    }
  }
}

// What the end of a tile waits for is the first piece but whole tiles of the cluster before, and
// leaves sums; the end is a cluster's last piece.
TEST(TensorPieces, WaitForTheClusterBefore) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(testing::Message() << c.k << ", " << c.tiles << " on " << c.clusters);
    const auto all = PiecesOf<true>(WorkOf(c));
    const size_t whole = WorkOf(c).first_divided / c.clusters;
    for (size_t cluster = 0; cluster < all.size(); ++cluster) {
      for (size_t i = 0; i < all[cluster].size(); ++i) {
        const TensorPiece& piece = all[cluster][i];
        if (i != whole) {
          EXPECT_EQ(piece.last, c.k) << "leaves sums, but late";
        }
        if (piece.first == 0) continue;
        EXPECT_EQ(i + 1, all[cluster].size());
        ASSERT_GT(cluster, 0u);
        const TensorPiece& before = all[cluster - 1][whole];
        EXPECT_EQ(before.tile, piece.tile);
        EXPECT_EQ(before.last, piece.first);
        EXPECT_EQ(before.first, 0);
      }
    }
  }
}

TEST(TensorPieces, WholeTilesWithoutDivision) {
  const auto all = PiecesOf<false>({100, 5, 0, 2});
  ASSERT_EQ(all[0].size(), 3u);
  ASSERT_EQ(all[1].size(), 2u);
  for (size_t cluster = 0; cluster < 2; ++cluster) {
    for (size_t i = 0; i < all[cluster].size(); ++i) {
      EXPECT_EQ(all[cluster][i].tile, static_cast<int>(2 * i + cluster));
      EXPECT_EQ(all[cluster][i].first, 0);
      EXPECT_EQ(all[cluster][i].last, 100);
    }
  }
}

}  // namespace
}  // namespace stridewise
