#include "matmul/cpu/threads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/cpu/multiply.h"
#include "matmul/cpu/whole_numbers.h"

namespace stridewise {
namespace {

TEST(ThreadsTest, SmallProductsStayOnOneThread) {
  constexpr int64_t kShapes[][3] = {{0, 0, 0},    {1, 1, 1},    {64, 64, 64}, {48, 80, 64},
                                    {714, 1, 76}, {1, 714, 76}, {0, 5, 9}};
  for (const auto& [m, n, k] : kShapes) {
    EXPECT_EQ(ChooseThreadGrid({m, n, k}, 16).parts(), 1) << m << "x" << n << "x" << k;
  }
}

TEST(ThreadsTest, LargeProductsTakeAllThreadsAndNoMore) {
  for (const int threads : {1, 2, 3, 7, 16}) {
    EXPECT_EQ(ChooseThreadGrid({4096, 4096, 4096}, threads).parts(), threads);
  }
}

// A product of one column is a matter of reading A, for which all cores read faster than one.
TEST(ThreadsTest, ThinProductsTakeThreadsByWhatTheyRead) {
  const ThreadGrid tall = ChooseThreadGrid({7140, 1, 76}, 16);
  EXPECT_EQ(tall.rows, 16);
  EXPECT_EQ(tall.cols, 1);
  const ThreadGrid wide = ChooseThreadGrid({1, 7140, 76}, 16);
  EXPECT_EQ(wide.rows, 1);
  EXPECT_EQ(wide.cols, 16);
}

ThreadGrid GridOf(const ProductShape& shape, int threads) {
  return ChooseDepthGrid(shape, ChooseThreadGrid(shape, threads), threads);
}

TEST(ThreadsTest, WideProductsOfSomeRowsHaveTeamsOfTwo) {
  for (const ProductShape& shape :
       {ProductShape{147, 3520, 5173}, ProductShape{337, 3676, 2526}, ProductShape{54, 1516, 3876},
        ProductShape{98, 488, 4326}, ProductShape{70, 568, 2907}}) {
    const ThreadGrid grid = GridOf(shape, 16);
    EXPECT_EQ(grid.rows, 2) << shape.m;
    EXPECT_EQ(grid.cols, 8) << shape.m;
    EXPECT_EQ(grid.depth, 1) << shape.m;
  }
  // Few rows, and little work.
  EXPECT_EQ(GridOf({33, 10741, 369}, 16).rows, 1);
  EXPECT_EQ(GridOf({93, 2453, 130}, 16).rows, 1);
}

// Each team would pack all of A.
TEST(ThreadsTest, TallProductsOfATransposedADivideRowsAlone) {
  for (const ProductShape& shape :
       {ProductShape{603, 119, 3209, /*transposed_a=*/true}, {882, 114, 7805, true}}) {
    const ThreadGrid grid = GridOf(shape, 16);
    EXPECT_EQ(grid.rows, 16) << shape.m;
    EXPECT_EQ(grid.cols, 1) << shape.m;
  }
}

// Each row of B would be read in pieces of a few lines.
TEST(ThreadsTest, FewRowsTimesNarrowMatrixAreDividedAlongK) {
  EXPECT_EQ(GridOf({2, 689, 6589}, 16).depth, 16);
  EXPECT_EQ(GridOf({1, 1000, 9000}, 16).depth, 16);
  EXPECT_EQ(GridOf({3, 6006, 217}, 16).depth, 1);
}

TEST(ThreadsTest, FewRowsTimesLargeMatrixReadLongPieces) {
  const ThreadGrid grid = GridOf({1, 3072, 5120}, 16);
  EXPECT_EQ(grid.cols, 4);
  EXPECT_EQ(grid.depth, 4);
  EXPECT_EQ(GridOf({1, 1168, 1051}, 16).cols, 16);
  EXPECT_EQ(GridOf({1, 3072, 5120}, 1).parts(), 1);
}

TEST(ThreadsTest, FewVectorsTimesLargeTransposedAreDividedAlongK) {
  EXPECT_EQ(GridOf({2432, 1, 1922, /*transposed_a=*/true}, 16).depth, 16);
  EXPECT_EQ(GridOf({2432, 1, 1922}, 16).depth, 1);
  EXPECT_EQ(GridOf({1517, 1, 492, /*transposed_a=*/true}, 16).depth, 1);
  EXPECT_EQ(GridOf({2432, 1, 1922, /*transposed_a=*/true}, 1).depth, 1);
  EXPECT_EQ(GridOf({11495, 4, 212, /*transposed_a=*/true}, 16).depth, 1);
}

// Else each thread would read a piece of some 50 columns of every row of B.
TEST(ThreadsTest, FewRowsOfALargeRowMajorBAreDividedAlongK) {
  for (const int64_t m : {4, 8, 14}) {
    const ThreadGrid grid = GridOf({m, 768, 3072}, 16);
    EXPECT_GT(grid.depth, 1) << m;
    EXPECT_EQ(grid.parts(), 16) << m;
    EXPECT_GE(768 / grid.cols, 96) << m;
  }
}

TEST(ThreadsTest, MoreThanSixteenThreadsHaveTheirShareOfWork) {
  for (const int64_t n : {80, 128, 160, 200, 256}) {
    const auto threads = static_cast<double>(ChooseThreadGrid({n, n, n}, 64).parts());
    EXPECT_GT(threads, 1) << n;
    EXPECT_LE(threads, std::max(16.0, WorkOfProduct(n, n, n) / 3e5)) << n;
  }
}

TEST(ThreadsTest, PartsFollowEachOther) {
  for (const int64_t extent : {0, 1, 15, 16, 17, 100, 255, 512, 1000, 4097}) {
    for (const int64_t parts : {1, 2, 3, 7, 16}) {
      EXPECT_EQ(FirstOfPart(extent, 0, parts), 0);
      EXPECT_EQ(FirstOfPart(extent, parts, parts), extent);
      for (int64_t part = 0; part < parts; ++part) {
        const int64_t first = FirstOfPart(extent, part, parts);
        const int64_t next = FirstOfPart(extent, part + 1, parts);
        EXPECT_LE(first, next) << extent << " in " << parts;
        EXPECT_LE(next - first, extent / parts + kPartUnit) << extent << " in " << parts;
        EXPECT_LT(first, next + (extent < parts ? 1 : 0)) << extent << " in " << parts;
      }
    }
  }
}

TEST(ThreadsTest, ChunksAreWholePanelsAndSeveralForEachThread) {
  EXPECT_EQ(ChunkRows(5, 100000, 4), 8);
  EXPECT_EQ(ChunkRows(512, 100000, 4), 32);
  EXPECT_EQ(ChunkRows(1000, 100000, 4), 64);
  EXPECT_EQ(ChunkRows(100000, 100000, 4), 64);
  EXPECT_EQ(ChunkRows(100000, 1000, 4), 256);
  EXPECT_EQ(ChunkRows(360, 4000, 4), 64);
  EXPECT_EQ(ChunkRows(360, 400, 4), 96);
}

// Parts of products are taken in turn, and no thread has long to wait for the last ones.
TEST(ThreadsTest, PartsOfBatchesKeepThreadsBusy) {
  constexpr int64_t kThreads = 16;
  for (const int64_t batch : {2, 3, 5, 7, 9, 16, 17, 18, 31, 100}) {
    const ThreadGrid grid = ChooseBatchGrid(200, 500, batch, kThreads);
    const int64_t parts = batch * grid.rows * grid.cols;
    const int64_t turns = (parts + kThreads - 1) / kThreads;
    EXPECT_GE(10 * parts, 8 * turns * kThreads) << batch;
  }
  const ThreadGrid whole = ChooseBatchGrid(200, 500, 160, kThreads);
  EXPECT_EQ(whole.rows * whole.cols, 1);
}

struct Extents {
  int64_t m, n, k;
  int64_t batch = 1;
};

// Compares what `threads` threads compute with what one does.
template <typename T, typename Out>
void CheckParts(const Extents& extents, int ops, std::vector<int> threads) {
  const auto& [m, n, k, batch] = extents;
  const std::vector<T> a = WholeNumbers<T>(batch * m * k, 3);
  const std::vector<T> b = WholeNumbers<T>(batch * k * n, 7);
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.alpha = 2;
  args.beta = -1;
  args.a.type = args.b.type = kElementTypeOf<T>;
  args.c.type = kElementTypeOf<Out>;
  args.a.data = a.data();
  args.a.transposed = (ops & 1) != 0;
  args.a.ld = args.a.transposed ? m : k;
  args.b.data = b.data();
  args.b.transposed = (ops & 2) != 0;
  args.b.ld = args.b.transposed ? k : n;
  args.c.ld = n;
  args.batch = batch;
  args.a.stride = m * k;
  args.b.stride = k * n;
  args.c.stride = m * n;
  std::vector<Out> expected = WholeNumbers<Out>(batch * m * n, 5);
  args.c.data = expected.data();
  MultiplyOnHost(args, 1);
  for (const int count : threads) {
    std::vector<Out> c = WholeNumbers<Out>(batch * m * n, 5);
    args.c.data = c.data();
    MultiplyOnHost(args, count);
    int64_t wrong = 0;
    for (size_t i = 0; i < c.size(); ++i) wrong += c[i] != expected[i];
    EXPECT_EQ(wrong, 0) << count << " threads, " << batch << " of " << m << "x" << n << "x" << k
                        << ", operands stored as " << ops;
  }
}

// Extents are no multiples of a tile, and the operands are stored in all four ways. The second
// shape is packed in several blocks, whose rows a team's threads take in turn; the third has few
// rows, the fourth is divided along k, the next two have so few rows or columns that nothing is
// packed, and the last ones are batches, in parts and whole.
template <typename T, typename Out = T>
void CheckAllParts() {
  constexpr Extents kShapes[] = {{211, 197, 181}, {200, 430, 1300}, {20, 900, 700},
                                 {40, 60, 3001},  {9, 700, 1500},   {7, 1200, 333},
                                 {1200, 9, 333},  {40, 90, 120, 7}, {9, 33, 50, 130}};
  for (const Extents& extents : kShapes) {
    for (int ops = 0; ops < 4; ++ops) CheckParts<T, Out>(extents, ops, {2, 3, 5, 7, 12});
  }
}

TEST(ThreadsTest, PartsMakeTheWholeProduct) { CheckAllParts<float>(); }
TEST(ThreadsTest, PartsMakeTheWholeProductOfBf16) { CheckAllParts<Bf16, float>(); }
TEST(ThreadsTest, PartsMakeTheWholeProductInBf16) { CheckAllParts<Bf16>(); }

// Its sums are more than are kept apart at once.
TEST(ThreadsTest, PartsMakeALargeProductInBf16) {
  CheckParts<Bf16, Bf16>({2100, 2048, 1040}, 0, {2});
}

}  // namespace
}  // namespace stridewise
