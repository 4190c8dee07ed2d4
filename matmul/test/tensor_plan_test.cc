// Which kernel of tensor cores the predictions prefer, at products that were measured on an H200.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/element_type.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/direct_plan.h"
#include "matmul/device/tensor/divided_plan.h"
#include "matmul/device/tensor/lines_plan.h"
#include "matmul/device/tensor/pair_plan.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/ring_plan.h"
#include "matmul/device/tensor/single_plan.h"
#include "matmul/device/tensor/small_plan.h"
#include "matmul/device/tensor/split_plan.h"
#include "matmul/device/tensor/tile_plan.h"
#include "matmul/device/tensor/tiny_plan.h"
#include "matmul/device/tensor/turned_plan.h"
#include "matmul/device/tensor/vector_plan.h"

namespace stridewise {
namespace {

MatMulArgs Bf16Product(int64_t m, int64_t n, int64_t k, bool transpose_b) {
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.a.type = args.b.type = args.c.type = ElementType::kBf16;
  args.a.ld = k;
  args.b.ld = transpose_b ? k : n;
  args.b.transposed = transpose_b;
  args.c.ld = n;
  return args;
}

// 8192 x 8192 x 8192 and 2048 x 11008 x 5120 took a fortieth and a tenth less on an H200 with their
// last tiles divided; 4096 x 4096 x 16384, which fills its last round, a tenth more.
TEST(TensorPlanTest, LastTilesAreDividedWhereARoundIsHalfEmpty) {
  const struct {
    int64_t m, n, k;
    bool divided;
  } cases[] = {{8192, 8192, 8192, true},   {2048, 11008, 5120, true}, {4096, 4096, 4096, false},
               {4096, 4096, 16384, false}, {2048, 8192, 8192, false}, {1024, 1024, 1024, false}};
  for (const auto& c : cases) {
    const MatMulArgs args = Bf16Product(c.m, c.n, c.k, false);
    EXPECT_EQ(PlanTensorDivided(args, H200Model()).us < PlanTensorTile(args, H200Model()).us,
              c.divided)
        << c.m << "x" << c.n << "x" << c.k;
  }
}

// Few rows read B once: tensor_tile's panels of A are empty but for them, and took 48 us for one
// row and 14336 columns, tensor_split 33.
TEST(TensorPlanTest, FewRowsTakeTensorSplit) {
  const struct {
    int64_t m;
    int64_t n;
    int64_t k;
  } cases[] = {
      {1, 4096, 4096},   {1, 14336, 4096},  {8, 11008, 4096},
      {16, 14336, 4096}, {16, 4096, 14336}, {32, 4096, 4096},
  };
  for (const auto& c : cases) {
    for (const bool transpose_b : {false, true}) {
      const MatMulArgs args = Bf16Product(c.m, c.n, c.k, transpose_b);
      const TensorPlan split = PlanTensorSplit(args, H200Model());
      EXPECT_LT(split.us, PlanTensorTile(args, H200Model()).us) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_TRUE(split.transposed);
    }
  }
}

// Squares of at most one tile for each multiprocessor: on an H200 1536 takes 15.8 us so, and 16.9
// by tensor_turned.
TEST(TensorPlanTest, OneTileForEachMultiprocessor) {
  const struct {
    int64_t size;
    int rows, cols;
    bool turned;
  } cases[] = {
      {512, 64, 32, true}, {1024, 64, 128, false}, {1536, 128, 144, true}, {2048, 128, 256, false}};
  for (const auto& c : cases) {
    const MatMulArgs args = Bf16Product(c.size, c.size, c.size, false);
    ASSERT_TRUE(TensorSingleTakes(args));
    const TensorPlan plan = PlanTensorSingle(args, H200Model());
    EXPECT_EQ(plan.rows, c.rows) << c.size;
    EXPECT_EQ(plan.cols, c.cols) << c.size;
    EXPECT_EQ(plan.transposed, c.turned) << c.size;
    EXPECT_LT(plan.us, PlanTensorTile(args, H200Model()).us) << c.size;
  }
  EXPECT_EQ(PlanTensorSingle(Bf16Product(2056, 4096, 2048, false), H200Model()).cols, 0);
  MatMulArgs args = Bf16Product(1024, 1020, 1024, false);  // Rows that are no vectors, and beta.
  EXPECT_FALSE(TensorSingleTakes(args));
  args = Bf16Product(1024, 1024, 1024, false);
  args.beta = 1;
  EXPECT_FALSE(TensorSingleTakes(args));
}

// Up to 64 rows: as many blocks as run at once, with tiles whose width divides the columns. On an
// H200 1 x 4096 x 14336 took 37 us by tensor_split and takes 33.8.
TEST(TensorPlanTest, FewRowsOfManyTakeTensorDecode) {
  const struct {
    int64_t m, n, k;
    int cols, split;
  } cases[] = {{64, 4096, 4096, 64, 2},
               {64, 4096, 14336, 64, 2},
               {64, 14336, 4096, 112, 1},
               {1, 4096, 14336, 64, 2},
               {16, 4096, 14336, 64, 2}};
  for (const auto& c : cases) {
    for (const bool transpose_b : {false, true}) {
      if (!transpose_b && c.cols != 64) continue;
      const MatMulArgs args = Bf16Product(c.m, c.n, c.k, transpose_b);
      ASSERT_TRUE(TensorDecodeTakes(args));
      const DecodePlan plan = PlanTensorDecode(args, H200Model());
      EXPECT_EQ(plan.cols, c.cols) << c.n << "x" << c.k;
      EXPECT_EQ(plan.split, c.split) << c.n << "x" << c.k;
      EXPECT_FALSE(plan.transposed);
      EXPECT_LT(plan.us, PlanTensorSplit(args, H200Model()).us) << c.n << "x" << c.k;
    }
  }
  EXPECT_TRUE(PlanTensorDecode(Bf16Product(4096, 64, 4096, false), H200Model()).transposed);
  EXPECT_FALSE(TensorDecodeTakes(Bf16Product(65, 4096, 4096, false)));
  EXPECT_EQ(PlanTensorDecode(Bf16Product(64, 14336, 4096, false), H200Model()).resident, 2);
  // No tile is so wide that all would run at once.
  EXPECT_EQ(PlanTensorDecode(Bf16Product(64, 128256, 4096, false), H200Model()).cols, 0);
}

// Lines of the few that do not lie along k have as many bytes as a swizzle of the TMA exchanges, or
// are whole ones of eight of k.
TEST(TensorPlanTest, RowsOfTheFewInAStage) {
  MatMulInput input = {};
  for (const auto& [few, ld, k, rows] : std::vector<std::array<int, 4>>{{8, 8, 4096, 8},
                                                                        {8, 16, 4096, 16},
                                                                        {7, 8, 4096, 16},
                                                                        {8, 8, 4095, 16},
                                                                        {16, 16, 4096, 16},
                                                                        {17, 24, 4096, 32},
                                                                        {33, 40, 4096, 64},
                                                                        {64, 64, 4096, 64}}) {
    input.ld = ld;
    EXPECT_EQ(DecodeFewRows(input, few, k, /*few_along_k=*/false), rows) << few << " of " << ld;
    EXPECT_EQ(DecodeFewRows(input, few, k, /*few_along_k=*/true), (few + 7) / 8 * 8) << few;
  }
}

// Clusters share rows and columns where rows begin within lines.
TEST(TensorPlanTest, TilesInClusters) {
  const struct {
    int64_t m, n, k;
    int rows, cols, cluster;
  } cases[] = {
      {520, 1000, 4104, 64, 96, 8}, {1544, 1000, 3000, 128, 128, 8}, {2040, 264, 4104, 64, 128, 8}};
  for (const auto& c : cases) {
    const TensorPlan plan = PlanTensorSingle(Bf16Product(c.m, c.n, c.k, false), H200Model());
    EXPECT_EQ(plan.rows, c.rows) << c.m;
    EXPECT_EQ(plan.cols, c.cols) << c.m;
    EXPECT_EQ(plan.cluster, c.cluster) << c.m;
  }
  for (const auto& [m, n, k] :
       std::vector<std::array<int, 3>>{{1024, 1024, 1024}, {2040, 2040, 1000}, {520, 1000, 72}}) {
    EXPECT_EQ(PlanTensorSingle(Bf16Product(m, n, k, false), H200Model()).cluster, 1) << m;
  }
}

// All blocks run at once, two of them side by side where there are more than eight rows.
TEST(TensorPlanTest, TilesOfPairs) {
  const struct {
    int64_t m, n, k;
    int cols, cluster;
    int64_t clusters;
  } cases[] = {{1, 4096, 4096, 8, 1, 64},
               {8, 4096, 4096, 8, 1, 64},
               {16, 4096, 14336, 8, 2, 64},
               {32, 4096, 4096, 16, 2, 64}};
  for (const auto& c : cases) {
    for (const bool transpose_b : {false, true}) {
      const MatMulArgs args = Bf16Product(c.m, c.n, c.k, transpose_b);
      const PairPlan plan = PlanTensorPair(args, H200Model());
      EXPECT_EQ(plan.cols, c.cols) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_EQ(plan.cluster, c.cluster) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_EQ(plan.clusters, c.clusters) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_LT(plan.us, PlanTensorSplit(args, H200Model()).us) << c.m << "x" << c.n << "x" << c.k;
    }
  }
  // More rows, more tiles than run at once, and so few that most multiprocessors would idle.
  EXPECT_EQ(PlanTensorPair(Bf16Product(33, 4096, 4096, true), H200Model()).cols, 0);
  EXPECT_EQ(PlanTensorPair(Bf16Product(16, 14336, 4096, true), H200Model()).cols, 0);
  EXPECT_EQ(PlanTensorPair(Bf16Product(16, 1024, 4096, true), H200Model()).cols, 0);
  MatMulArgs across = Bf16Product(16, 4096, 4096, false);  // Neither operand lies along k.
  across.a.transposed = true;
  across.a.ld = 16;
  EXPECT_EQ(PlanTensorPair(across, H200Model()).cols, 0);
}

// Up to 16 rows beside whole lines, of which two stages of 4096 of k are on their way.
TEST(TensorPlanTest, WholeLines) {
  const MatMulArgs args = Bf16Product(16, 14336, 4096, true);
  const DeviceModel h100 = WithMemoryRate(H200Model(), 3352);
  const LinesPlan deep = PlanTensorLines(args, h100);
  EXPECT_EQ(deep.chunks, 8);
  EXPECT_EQ(deep.stages, 2);
  EXPECT_TRUE(deep.transposed);
  EXPECT_LT(deep.us, PlanTensorSplit(args, h100).us);
  EXPECT_GT(PlanTensorLines(args, H200Model()).us, PlanTensorSplit(args, H200Model()).us);
  const LinesPlan shallow = PlanTensorLines(Bf16Product(14336, 8, 1032, false), H200Model());
  EXPECT_EQ(shallow.chunks, 3);
  EXPECT_EQ(shallow.stages, 5);
  EXPECT_FALSE(shallow.transposed);
  // Rows that are no vectors, more rows, more of k than registers hold, less, and lines across k.
  EXPECT_EQ(PlanTensorLines(Bf16Product(14336, 6, 1032, false), h100).chunks, 0);
  EXPECT_EQ(PlanTensorLines(Bf16Product(17, 14336, 4096, true), H200Model()).chunks, 0);
  EXPECT_EQ(PlanTensorLines(Bf16Product(16, 4096, 4104, true), H200Model()).chunks, 0);
  EXPECT_EQ(PlanTensorLines(Bf16Product(16, 4096, 512, true), H200Model()).chunks, 0);
  EXPECT_EQ(PlanTensorLines(Bf16Product(16, 14336, 4096, false), H200Model()).chunks, 0);
}

// 1536 x 1536 took 19.4 us in tiles of 128 x 192 and 17.0 in those of 144 x 128 (on an H100); 3072
// divides by 192.
TEST(TensorPlanTest, TensorTurnedFillsARound) {
  const MatMulArgs args = Bf16Product(1536, 1536, 1536, false);
  EXPECT_LT(PlanTensorTurned(args, H200Model()).us, PlanTensorTile(args, H200Model()).us);
  const MatMulArgs large = Bf16Product(3072, 3072, 3072, false);
  EXPECT_GT(PlanTensorTurned(large, H200Model()).us, PlanTensorTile(large, H200Model()).us);
}

// Tiles of 64 rows, of which there are twice as many, where those of 128 leave multiprocessors
// idle: 1024 x 512 x 4096 took 20 us on an H100 and takes 16. Few rows leave them to decoding.
TEST(TensorPlanTest, FewTilesAreLow) {
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{512, 512, 512}, {1024, 512, 4096}, {512, 64, 512}}) {
    const MatMulArgs args = Bf16Product(m, n, k, false);
    const DeviceModel h100 = WithMemoryRate(H200Model(), 3352);
    const TensorPlan plan = PlanTensorTile(args, h100);
    EXPECT_EQ(plan.rows, 64) << m << "x" << n << "x" << k;
    EXPECT_EQ(plan.cols, 64) << m << "x" << n << "x" << k;
    EXPECT_LT(plan.us, PlanTensorSplit(args, h100).us) << m << "x" << n << "x" << k;
  }
  EXPECT_EQ(PlanTensorTile(Bf16Product(8, 768, 3072, false), H200Model()).rows, 128);
  EXPECT_EQ(PlanTensorTile(Bf16Product(4096, 4096, 4096, false), H200Model()).rows, 128);
}

// 197 and 257 rows, which tiles of 128 and 256 rows fill badly, and extents that 160 divides. On an
// H100 257 x 5120 x 5120 took 54 us by tensor_tile and 35 by tensor_turned.
TEST(TensorPlanTest, TensorTurnedTakesRowsThatItsTilesFill) {
  const struct {
    int64_t m, n, k;
    int cols, cluster;
  } cases[] = {{257, 5120, 5120, 96, 4},
               {257, 32768, 8192, 144, 2},
               {5120, 512, 5120, 160, 1},
               {64, 14336, 4096, 64, 2}};
  for (const auto& c : cases) {
    const MatMulArgs args = Bf16Product(c.m, c.n, c.k, false);
    const TensorPlan plan = PlanTensorTurned(args, H200Model());
    EXPECT_EQ(plan.cols, c.cols) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_EQ(plan.cluster, c.cluster) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_LT(plan.us, PlanTensorSplit(args, H200Model()).us) << c.m << "x" << c.n << "x" << c.k;
    if (c.m == 64) continue;  // Tiles of 64 rows of tensor_tile take as long.
    EXPECT_LT(plan.us, PlanTensorTile(args, H200Model()).us) << c.m << "x" << c.n << "x" << c.k;
  }
}

// Few tiles and a long k: 197 x 3072 x 14336 took 82 us by tensor_tile and 44 by wide tiles in
// clusters of four.
TEST(TensorPlanTest, WideTilesDivideALongK) {
  const MatMulArgs args = Bf16Product(197, 3072, 14336, false);
  const TensorPlan plan = PlanTensorSplit(args, H200Model());
  EXPECT_EQ(plan.cols, 224);
  EXPECT_EQ(plan.split, 4);
  EXPECT_TRUE(plan.transposed);
  EXPECT_LT(plan.us, PlanTensorTile(args, H200Model()).us);
  EXPECT_LT(plan.us, PlanTensorTurned(args, H200Model()).us);
}

// A long k is divided by as many warps as there may be, since each of their steps waits for memory;
// a short one by those of a block, which need no cluster.
TEST(TensorPlanTest, TensorDirectDividesK) {
  const struct {
    int64_t m;
    int64_t n;
    int64_t k;
    int few, log_split, log_warps_of_k;
  } cases[] = {{5, 272, 6242, 8, 4, 2},
               {272, 5, 6242, 8, 4, 2},
               {60, 5, 10697, 8, 4, 2},
               {20, 32, 40, 32, 0, 2}};
  for (const auto& c : cases) {
    const DirectPlan plan = PlanTensorDirect(Bf16Product(c.m, c.n, c.k, true), H200Model());
    EXPECT_EQ(plan.few, c.few) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_EQ(plan.log_split, c.log_split) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_EQ(plan.log_warps_of_k, c.log_warps_of_k) << c.m << "x" << c.n << "x" << c.k;
    EXPECT_EQ(plan.transposed, c.m < c.n);
    DeviceModel old = H200Model();
    old.compute_capability = 80;
    EXPECT_EQ(PlanTensorDirect(Bf16Product(c.m, c.n, c.k, true), old).log_split, 0);
  }
}

// Both directions of the same product are divided alike: blocks divide k until all multiprocessors
// have one, and where there are few of them until a step is left for each.
TEST(TensorPlanTest, TensorRingDividesK) {
  const struct {
    int64_t m, n, k;
    int few, log_split;
  } cases[] = {{1438, 28, 6386, 32, 3},
               {4, 3, 11609, 8, 4},
               {3160, 1, 8682, 8, 2},
               {10, 151, 15, 16, 0},
               {36, 1, 64, 8, 0}};
  for (const auto& c : cases) {
    for (const bool turned : {false, true}) {
      const MatMulArgs args = Bf16Product(turned ? c.n : c.m, turned ? c.m : c.n, c.k, true);
      ASSERT_TRUE(TensorRingTakes(args));
      const RingPlan plan = PlanTensorRing(args, H200Model());
      EXPECT_EQ(plan.few, c.few) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_EQ(plan.log_split, c.log_split) << c.m << "x" << c.n << "x" << c.k;
      EXPECT_EQ(plan.transposed, args.m < args.n);
      DeviceModel old = H200Model();
      old.compute_capability = 80;
      EXPECT_EQ(PlanTensorRing(args, old).log_split, 0);
    }
  }
}

// On an H200 1x36x781 in a batch of 633 took 40 us by tensor_vector and takes 28 by tensor_ring.
// What is over before a ring is full is faster by others: 32x21x30 in a batch of 779 takes 17, and
// 12 by tensor_small.
TEST(TensorPlanTest, RowsOfAnyAlignmentTakeTensorRing) {
  const auto us_of_others = [](const MatMulArgs& args) {
    double us =
        std::min(PlanTensorDirect(args, H200Model()).us, PlanTensorSmall(args, H200Model()).us);
    us = std::min(us, PlanTensorTiny(args).us);
    return TensorVectorTakes(args) ? std::min(us, PlanTensorVector(args, H200Model()).us) : us;
  };
  MatMulArgs batch = Bf16Product(1, 36, 781, true);
  batch.batch = 633;
  batch.a.stride = 781;
  batch.b.stride = 36 * 781;
  for (const MatMulArgs& args : {Bf16Product(2631, 27, 7219, false), batch}) {
    EXPECT_LT(PlanTensorRing(args, H200Model()).us, us_of_others(args)) << args.m << "x" << args.n;
  }
  MatMulArgs short_k = Bf16Product(32, 21, 30, false);
  short_k.batch = 779;
  short_k.a.stride = 32 * 30;
  short_k.b.stride = 21 * 30;
  EXPECT_GT(PlanTensorRing(short_k, H200Model()).us, us_of_others(short_k));
}

// Blocks divide k until a step or two is left for each, or all multiprocessors are busy.
TEST(TensorPlanTest, TensorSmallDividesK) {
  const struct {
    int64_t m;
    int64_t n;
    int64_t k;
    int log_split;
  } cases[] = {{45, 5015, 32, 0}, {254, 16, 266, 3},  {81, 9, 597, 4},     {42, 70, 5346, 4},
               {300, 300, 64, 0}, {255, 255, 255, 2}, {8475, 1222, 149, 0}};
  for (const auto& c : cases) {
    const MatMulArgs args = Bf16Product(c.m, c.n, c.k, true);
    ASSERT_TRUE(TensorSmallTakes(args));
    EXPECT_EQ(PlanTensorSmall(args, H200Model()).log_split, c.log_split)
        << c.m << "x" << c.n << "x" << c.k;
    DeviceModel old = H200Model();
    old.compute_capability = 80;
    EXPECT_EQ(PlanTensorSmall(args, old).log_split, 0);
  }
}

// 45x5015x32 took 8.9 us by tensor_general and 5.8 by tensor_small, 254x16x266 9.3 by tensor_direct
// and 6.6; of 60x5x10697 tensor_direct loads the large operand faster.
TEST(TensorPlanTest, SmallProductsTakeTensorSmall) {
  for (const MatMulArgs& args :
       {Bf16Product(45, 5015, 32, true), Bf16Product(1661, 20, 354, false),
        Bf16Product(254, 16, 266, true), Bf16Product(96, 79, 366, false)}) {
    const double us = PlanTensorSmall(args, H200Model()).us;
    EXPECT_LT(us, PlanTensorGeneral(args, H200Model()).us) << args.m << "x" << args.n;
    EXPECT_LT(us, PlanTensorDirect(args, H200Model()).us) << args.m << "x" << args.n;
    if (args.m == 254) continue;  // tensor_tiny is expected to take as long.
    EXPECT_LT(us, PlanTensorTiny(args).us) << args.m << "x" << args.n;
  }
  for (const MatMulArgs& args :
       {Bf16Product(60, 5, 10697, true), Bf16Product(7, 13, 50000, false)}) {
    EXPECT_LT(PlanTensorDirect(args, H200Model()).us, PlanTensorSmall(args, H200Model()).us)
        << args.m << "x" << args.n;
  }
  for (const MatMulArgs& args : {Bf16Product(3, 11, 7, true), Bf16Product(179, 9, 2, false)}) {
    EXPECT_LT(PlanTensorTiny(args).us, PlanTensorSmall(args, H200Model()).us)
        << args.m << "x" << args.n;
  }
}

// The threads of tensor_tiny load all of a single element's k together. 25x1x5420 took 12.1 us by a
// kernel that loads it in several trips.
TEST(TensorPlanTest, TensorTinyDividesK) {
  for (const MatMulArgs& args : {Bf16Product(2, 1, 134, false), Bf16Product(25, 1, 5420, false)}) {
    const TinyPlan plan = PlanTensorTiny(args);
    EXPECT_GE(kTinyTogether << plan.log_slices(), args.k) << args.m << "x" << args.n;
  }
}

// Neighbouring threads load neighbours, whichever way the operands lie: along k, or along the rows
// or columns of C.
TEST(TensorPlanTest, TensorTinyLoadsNeighbours) {
  MatMulArgs along_k = Bf16Product(64, 1, 500, true);
  EXPECT_GE(PlanTensorTiny(along_k).log_lanes, 2);
  MatMulArgs along_m = Bf16Product(4000, 1, 20, true);
  along_m.a.ld = along_m.m;
  along_m.a.transposed = true;
  const TinyPlan plan = PlanTensorTiny(along_m);
  EXPECT_GE(plan.transposed ? plan.log_cols : plan.log_rows, 3);
}

// A grid has so many blocks in y at most.
TEST(TensorPlanTest, TensorTinyFitsAGrid) {
  for (const MatMulArgs& args :
       {Bf16Product(3, 10'000'000, 2, false), Bf16Product(10'000'000, 3, 2, true)}) {
    const TinyPlan plan = PlanTensorTiny(args);
    EXPECT_LE(CeilDiv(plan.transposed ? args.m : args.n, int64_t{1} << plan.log_cols), kMaxGridYZ);
  }
}

// Kernels that load C by the TMA (tensor_add.h) are there for two tiles.
TEST(TensorPlanTest, LargeProductsTakeTilesThatAddC) {
  for (const int64_t n : {2048, 3072, 4096, 8192}) {
    MatMulArgs args = Bf16Product(n, n, n, true);
    args.beta = 1;
    const TensorPlan plan = PlanTensorTile(args, H200Model());
    EXPECT_EQ(plan.cluster, 1) << n;
    EXPECT_EQ(plan.cols % 128, 0) << n;
    args.c.ld = n + 1;
    EXPECT_GT(PlanTensorTile(args, H200Model()).us, plan.us) << n;
    args.c.ld = n;
    args.beta = 0;
    EXPECT_LT(PlanTensorTile(args, H200Model()).us, plan.us) << n;
  }
}

TEST(TensorPlanTest, SquaresTakeTensorTile) {
  for (const int64_t n : {512, 1024, 2048, 4096}) {
    const MatMulArgs args = Bf16Product(n, n, n, true);
    EXPECT_LT(PlanTensorTile(args, H200Model()).us, PlanTensorSplit(args, H200Model()).us) << n;
  }
}

}  // namespace
}  // namespace stridewise
