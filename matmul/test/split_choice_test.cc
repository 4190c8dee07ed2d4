// Which calls split_fp16 and its siblings take, what they need, and when FP32 is left, for them or
// for split_fused.

#include "matmul/split_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/base/case_random.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/dispatch.h"
#include "matmul/fused_choice.h"
#include "matmul/tensor_choice.h"

namespace stridewise {
namespace {

constexpr DeviceModel kAmpere = {/*compute_capability=*/80, /*multiprocessors=*/108};
const DeviceModel kDevice = H200Model();

// Without gaps, in any layout, with as much workspace as the split needs.
MatMulArgs Call(int64_t m, int64_t n, int64_t k, int64_t batch = 1, const char* layout = "nn") {
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.batch = batch;
  args.precision = MatMulPrecision::kFp32Split;
  args.a.transposed = layout[0] == 't';
  args.b.transposed = layout[1] == 't';
  args.a.ld = args.a.transposed ? m : k;
  args.b.ld = args.b.transposed ? k : n;
  args.c.ld = n;
  args.a.stride = m * k;
  args.b.stride = k * n;
  args.c.stride = m * n;
  args.workspace_bytes = SplitWorkspaceBytes(args);
  args.device_model = &kDevice;
  return args;
}

TEST(CanSplit, ByShapeScaleWorkspaceAndDevice) {
  const auto with = [](MatMulArgs args, double alpha, int64_t fewer_bytes) {
    args.alpha = alpha;
    args.workspace_bytes -= fewer_bytes;
    return args;
  };
  const MatMulArgs square = Call(1024, 1024, 1024);
  constexpr int64_t kMostRows = std::numeric_limits<int32_t>::max() / 8;
  const struct {
    const char* what;
    bool want;
    MatMulArgs args;
    DeviceModel device;
    SplitForm form = kFp16PairForm;
  } cases[] = {
      {"square", true, square, kDevice},
      {"another GPU", false, square, kAmpere},
      {"alpha 0", false, with(square, 0, 0), kDevice},
      {"alpha 0 as a float", false, with(square, 1e-60, 0), kDevice},
      {"a byte is missing", false, with(square, 1, 1), kDevice},
      {"1 row and column", true, Call(1, 1, 128), kDevice},
      {"k 36", false, Call(1024, 1024, 36), kDevice},
      {"k 37", true, Call(1024, 1024, 37), kDevice},
      {"k 127 of triples", false, Call(1024, 1024, 127), kDevice, kBf16SixForm},
      {"k 2^18", true, Call(1024, 1024, 1 << 18), kDevice},
      {"k 2^18 + 1", false, Call(1024, 1024, (1 << 18) + 1), kDevice},
      {"k 2047 of slices", false, Call(1024, 1024, 2047), kDevice, kInt8SliceForm},
      {"k 2048 of slices", true, Call(1024, 1024, 2048), kDevice, kInt8SliceForm},
      {"k 2^15 of slices", true, Call(1024, 1024, 1 << 15), kDevice, kInt8SliceForm},
      {"k 2^15 + 1 of slices", false, Call(1024, 1024, (1 << 15) + 1), kDevice, kInt8SliceForm},
      {"most rows", true, Call(kMostRows, 1, 128), kDevice},
      {"a row more", false, Call(kMostRows + 1, 1, 128), kDevice},
      {"most columns of a batch", true, Call(1, kMostRows / 5, 128, 5), kDevice},
      {"a column more", false, Call(1, kMostRows / 5 + 1, 128, 5), kDevice},
      {"most matrices", true, Call(1, 1, 128, kMostRows), kDevice},
      {"a matrix more", false, Call(1, 1, 128, kMostRows + 1), kDevice},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(CanSplit(c.args, c.device, c.form), c.want) << c.what;
  }
}

TEST(SplitWorkspaceBytes, HoldsPartsAndScalesAlignedAndLittleMore) {
  constexpr int64_t kLine = 256;
  for (int i = 0; i < 200; ++i) {
    CaseRandom random(/*seed=*/19, i);
    const char* const layouts[] = {"nn", "nt", "tn", "tt"};
    MatMulArgs args = Call(random.Between(1, 700), random.Between(1, 700), random.Between(128, 900),
                           random.Between(1, 4), layouts[i % 4]);
    if (i % 3 == 0) args.b.stride = 0;  // One for all.
    const int64_t matrices_b = i % 3 == 0 ? 1 : args.batch;
    for (const SplitForm& form : {kFp16PairForm, kBf16SixForm, kBf16NineForm, kTf32PairForm,
                                  kInt8SliceForm, kFp16AndFp8Form}) {
      const SplitLayout b = SplitLayoutOfB(args, form);
      const bool by_k = args.b.transposed || form.k_major;
      const int64_t rows = by_k ? args.n : args.k;
      const int64_t cols = by_k ? args.k : args.n;
      const int64_t row_bytes = CeilDiv(cols * form.part_bytes, 16) * 16;
      const int64_t out_bytes = b.out_ld * form.part_bytes;
      EXPECT_EQ(b.count, matrices_b);
      // Of a row that is long enough the next one begins with a line of the L2.
      EXPECT_GE(out_bytes, row_bytes);
      EXPECT_LE(16 * out_bytes, 17 * row_bytes);
      if (out_bytes != row_bytes || row_bytes >= 16 * 128) {
        EXPECT_EQ(out_bytes % 128, 0);
      }
      EXPECT_EQ(b.part_bytes % kLine, 0);
      EXPECT_GE(b.part_bytes, matrices_b * rows * b.out_ld * form.part_bytes);
      EXPECT_EQ(b.scales, form.parts * b.part_bytes);
      EXPECT_GE(b.bytes, b.scales + matrices_b * args.n * 4);
      EXPECT_LT(b.bytes, matrices_b * (rows * out_bytes * form.parts + args.n * 4) +
                             (form.parts + 1) * kLine);
      EXPECT_EQ(SplitWorkspaceBytes(args, form), SplitLayoutOfA(args, form).bytes + b.bytes);
    }
  }
}

TEST(ChooseSplit, TilesBySizeAndNoWideOnesOfThreeParts) {
  EXPECT_EQ(ChooseSplit(Call(1024, 1024, 1024), kDevice).tile, SplitTileCols::k64);
  EXPECT_EQ(ChooseSplit(Call(2048, 2048, 2048), kDevice).tile, SplitTileCols::k128);
  EXPECT_EQ(ChooseSplit(Call(8192, 8192, 8192), kDevice).tile, SplitTileCols::k192);
  EXPECT_EQ(ChooseSplit(Call(8192, 8192, 8192), kDevice, kBf16SixForm).tile, SplitTileCols::k128);
  EXPECT_EQ(ChooseSplit(Call(8192, 8192, 8192), kDevice, kTf32PairForm).tile, SplitTileCols::k192);
  EXPECT_EQ(ChooseSplit(Call(1024, 1024, 2048), kDevice, kInt8SliceForm).tile, SplitTileCols::k128);
  // More products and parts, and more of the same matrices, take longer.
  for (const int64_t n : {128, 1000, 4096}) {
    const double pair = ChooseSplit(Call(n, n, n), kDevice).us;
    const double six = ChooseSplit(Call(n, n, n), kDevice, kBf16SixForm).us;
    EXPECT_LT(0, pair);
    EXPECT_LT(pair, six);
    EXPECT_LT(six, ChooseSplit(Call(n, n, n), kDevice, kBf16NineForm).us);
    EXPECT_LT(pair, ChooseSplit(Call(n, n, n, 16), kDevice).us);
    EXPECT_TRUE(std::isfinite(six));
  }
}

TEST(ChooseSplit, KnowsMemoryAndIdleMultiprocessors) {
  const MatMulArgs aligned = Call(512, 512, 1024);
  MatMulArgs unaligned = aligned;
  unaligned.c.ld = 513;
  EXPECT_LT(ChooseSplit(aligned, kDevice).us, ChooseSplit(unaligned, kDevice).us);
  const DeviceModel slow_memory = WithMemoryRate(kDevice, kDevice.memory_gbps / 2);
  EXPECT_LT(ChooseSplit(aligned, kDevice).us, ChooseSplit(aligned, slow_memory).us);
  const MatMulArgs large_batch = Call(40, 849, 1228, 658);
  EXPECT_LT(ChooseFused(large_batch, kDevice).us, ChooseFused(large_batch, slow_memory).us);
  // Rows of B's parts have 272 bytes: blocks that read them alone would take longer.
  const SplitTileCols ragged = ChooseSplit(Call(3618, 2292, 136, 1, "tt"), kDevice).tile;
  EXPECT_TRUE(ragged == SplitTileCols::k128InPairs || ragged == SplitTileCols::k192);
  // Half of the tiles of a single round, of which each takes less of the L2.
  const double split_us = 2 * ChooseSplit(Call(1024, 1024, 128), kDevice).us;
  EXPECT_LT(ChooseSplit(Call(1024, 512, 8192), kDevice).us + split_us,
            ChooseSplit(Call(1024, 1024, 8192), kDevice).us);
}

// Shapes far from the border. Where the split is to be taken, it was measured to need half of
// cuBLAS's time or less; where it is not, few rows or columns use what would be split, or the
// product is tiny.
TEST(SplitPays, WhereOperandsAreUsedOftenEnough) {
  const struct {
    bool want;
    int64_t m, n, k, batch;
    const char* layout;
  } cases[] = {
      {true, 1024, 1024, 1024, 1, "nn"},  {true, 16384, 16384, 16384, 1, "nn"},
      {true, 4626, 10005, 6425, 1, "nt"}, {true, 943, 864, 172, 19, "nt"},
      {true, 506, 707, 931, 41, "nt"},    {true, 772, 8814, 1390, 1, "tn"},
      {false, 32, 4096, 8192, 1, "nn"},   {false, 26, 487, 767, 614, "tn"},
      {false, 25, 213, 548, 808, "nn"},   {false, 40, 849, 1228, 658, "nn"},
      {false, 64, 64, 128, 1, "nn"},      {false, 36, 3704, 9507, 1, "tn"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(SplitPays(Call(c.m, c.n, c.k, c.batch, c.layout)), c.want)
        << c.m << "x" << c.n << "x" << c.k << " batch " << c.batch << " " << c.layout;
  }
}

TEST(CanFuse, ByShapeScaleAndDevice) {
  MatMulArgs scaled = Call(100, 100, 100);
  scaled.alpha = 0;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const struct {
    const char* what;
    bool want;
    MatMulArgs args;
    DeviceModel device;
  } cases[] = {
      {"square", true, Call(100, 100, 100), kDevice},
      {"another GPU", false, Call(100, 100, 100), kAmpere},
      {"alpha 0", false, scaled, kDevice},
      {"k 63", false, Call(100, 100, 63), kDevice},
      {"k 64", true, Call(1, 1, 64), kDevice},
      {"most k", true, Call(1, 1, kMost / 2), kDevice},
      {"one more", false, Call(1, 1, kMost / 2 + 1), kDevice},
      {"most matrices", true, Call(64, 32, 64, kMost / 8), kDevice},
      {"a matrix more", false, Call(64, 32, 64, kMost / 8 + 1), kDevice},
  };
  for (const auto& c : cases) EXPECT_EQ(CanFuse(c.args, c.device), c.want) << c.what;
}

// A block has two steps of k or more where several divide them, and a call that has more of the
// same to do takes longer.
TEST(ChooseFused, TileAndSplitFitTheShape) {
  EXPECT_EQ(ChooseFused(Call(2048, 2048, 2048), kDevice).tile, FusedTileShape::k128x128);
  EXPECT_EQ(ChooseFused(Call(2048, 2048, 2048), kDevice).split, 1);
  EXPECT_EQ(ChooseFused(Call(60, 40000, 8192), kDevice).tile, FusedTileShape::k64x256);
  EXPECT_EQ(ChooseFused(Call(40000, 60, 8192), kDevice).tile, FusedTileShape::k256x64);
  for (const int64_t k : {64, 128, 200, 256, 1000, 100000}) {
    const FusedChoice one = ChooseFused(Call(100, 100, k), kDevice);
    EXPECT_LE(one.split, std::max<int64_t>(1, (k + 63) / 64 / 2)) << k;
    EXPECT_LT(one.us, ChooseFused(Call(100, 100, k, 1000), kDevice).us) << k;
  }
}

// A workspace lets any number of blocks divide a tile, where clusters leave multiprocessors idle or
// where tiles are left behind the last whole round; it is no larger than the operands.
TEST(ChooseFused, DividesTilesWithAWorkspace) {
  const FusedChoice few = ChooseFused(Call(1024, 128, 14336), kDevice);
  EXPECT_EQ(few.whole, 0);
  EXPECT_EQ(few.split, 132 / 8);
  EXPECT_EQ(few.partial_bytes, int64_t{8} * few.split * 128 * 128 * 4);
  const FusedChoice left = ChooseFused(Call(363, 6059, 6597, 1, "tt"), kDevice);
  EXPECT_EQ(left.whole, 132);
  EXPECT_EQ(left.split, 132 / (144 - 132));
  for (const int64_t k : {64, 700, 6597}) {
    MatMulArgs args = Call(363, 6059, k);
    EXPECT_LE(ChooseFused(args, kDevice).partial_bytes, (363 + 6059) * k * 4) << k;
    const double with_us = ChooseFused(args, kDevice).us;
    args.workspace_bytes = 0;
    EXPECT_EQ(ChooseFused(args, kDevice).partial_bytes, 0) << k;
    EXPECT_GE(ChooseFused(args, kDevice).us, with_us) << k;
  }
}

// A tile has whole steps of 64 of k: beside what the split takes a k of 70 is one of 128.
TEST(ChooseSplit, CountsWholeStepsOfK) {
  const auto us_of_product = [](int64_t k) {
    const MatMulArgs call = Call(4096, 4096, k);
    return ChooseSplit(call, kDevice).us;
  };
  const double split = (us_of_product(128) - us_of_product(70)) / (128 - 70);
  const double step = (us_of_product(192) - us_of_product(128)) / (192 - 128);
  EXPECT_LT(split, step / 2);
  EXPECT_GT(us_of_product(129) - us_of_product(128), 32 * step);
}

// Batches of short rows and of short columns, measured on an H200.
TEST(ChooseSplit, CountsShortRows) {
  EXPECT_NEAR(ChooseSplit(Call(1082, 219, 103, 403, "nt"), kDevice).us, 456, 68);
  EXPECT_NEAR(ChooseSplit(Call(375, 1157, 142, 235, "tt"), kDevice).us, 476, 71);
}

// Which of the two was measured to be faster on an H100, where they differ by a twentieth or more.
TEST(ChooseFused, BesideChooseSplit) {
  const struct {
    bool fused;
    int64_t m, n, k, batch;
    const char* layout;
  } cases[] = {
      {true, 265, 92, 139, 569, "nn"},   {true, 1384, 259, 634, 7, "tt"},
      {false, 432, 3878, 921, 1, "tt"},  {false, 4548, 365, 1718, 1, "nt"},
      {false, 4619, 426, 5511, 1, "nt"}, {false, 2222, 781, 664, 1, "tt"},
  };
  const DeviceModel h100 = WithMemoryRate(kDevice, 3352);
  for (const auto& c : cases) {
    const MatMulArgs args = Call(c.m, c.n, c.k, c.batch, c.layout);
    EXPECT_EQ(ChooseFused(args, h100).us < ChooseSplit(args, h100).us, c.fused)
        << c.m << "x" << c.n << "x" << c.k << " batch " << c.batch << " " << c.layout;
  }
}

// Measured to need less time than FP32 and than split_fp16 do, or more.
TEST(FusedPays, WhereOperandsAreUsedFewTimes) {
  const struct {
    bool want;
    int64_t m, n, k, batch;
    const char* layout;
  } cases[] = {
      {true, 57, 1113, 375, 887, "nn"}, {true, 323, 48, 1278, 99, "tn"},
      {true, 107, 6793, 2021, 1, "nt"}, {true, 128, 8192, 32768, 1, "tn"},
      {false, 64, 64, 128, 1, "nn"},    {true, 32, 4096, 8192, 1, "nn"},
      {false, 4145, 8025, 67, 1, "tn"}, {false, 538, 739, 8, 641, "nt"},
      {true, 32, 3072, 12288, 1, "nn"}, {true, 32, 4096, 16384, 1, "nn"},
      {true, 32, 32000, 8192, 1, "nn"},
  };
  for (const auto& c : cases) {
    const MatMulArgs args = Call(c.m, c.n, c.k, c.batch, c.layout);
    EXPECT_EQ(!SplitPays(args) && FusedPays(args), c.want)
        << c.m << "x" << c.n << "x" << c.k << " batch " << c.batch << " " << c.layout;
  }
}

}  // namespace
}  // namespace stridewise
