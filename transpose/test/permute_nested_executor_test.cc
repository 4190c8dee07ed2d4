// Permutations that are batches of batches of transposes, by each kernel that takes them, on the
// host executor: every byte of the result and around it, with checks of bounds, races and
// initialisation.

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "transpose/alignment.h"
#include "transpose/permute.h"
#include "transpose/permute_as_transpose.h"
#include "transpose/test/permute_executor_fixture.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace executor {
LaunchStatus NestedTileStrips(const TransposeArgs& args, const MatrixOffsets& offsets);
LaunchStatus NestedTileFlat(const TransposeArgs& args, const MatrixOffsets& offsets);
}  // namespace executor

namespace {

class PermuteNestedTest : public PermuteExecutorFixture {
 protected:
  // Runs the case by each kernel that takes it. Returns the number of those.
  int RunAll(const PermuteCase& c) {
    const struct {
      const char* name;
      bool (*takes)(const TransposeArgs& args);
      NestedTranspose run;
    } kernels[] = {{"tile_strips", HasStripsOfVectors, executor::NestedTileStrips},
                   {"tile_flat", HasFlatTiles, executor::NestedTileFlat}};
    int taken = 0;
    for (const auto& kernel : kernels) {
      SCOPED_TRACE(testing::Message() << c << " by " << kernel.name);
      TransposeArgs args;
      MatrixOffsets offsets;
      const auto takes = [&](const PermuteArgs& canonical) {
        EXPECT_TRUE(AsTranspose(canonical, &args, &offsets));
        EXPECT_GT(offsets.nested, 1u);
        return kernel.takes(args);
      };
      taken += RunWhere(c, takes, [&](const PermuteArgs&) { return kernel.run(args, offsets); });
    }
    return taken;
  }
};

// Both orders of a batch whose dimensions are exchanged, for matrices of the shapes that the
// kernels are made for, and others.
TEST_F(PermuteNestedTest, BatchesThatAreExchanged) {
  const struct {
    int64_t rows, cols, bytes;
  } matrices[] = {{20, 64, 2}, {56, 128, 1}, {70, 210, 1}, {65, 33, 4},  {33, 65, 8},
                  {12, 40, 2}, {5, 300, 1},  {300, 5, 2},  {64, 64, 16}, {130, 257, 1}};
  int taken = 0;
  for (const auto& m : matrices) {
    taken += RunAll({{3, 2, m.rows, m.cols}, {1, 0, 3, 2}, m.bytes});
    taken += RunAll({{2, 4, m.rows, m.cols}, {1, 0, 3, 2}, m.bytes, {}, {}, 1, 3});
    taken += RunAll({{2, m.rows, 3, m.cols}, {2, 0, 3, 1}, m.bytes});
    taken +=
        RunAll({{2, m.rows, 3, m.cols}, {0, 2, 3, 1}, m.bytes, {5, 0, 1, 0}, {0, 3, 0, 0}, 0, 1});
  }
  EXPECT_GE(taken, 20);
}

// So many that tile_strips' blocks have several, of which some are before and others behind the end
// of a batch.
TEST_F(PermuteNestedTest, ManySmallMatrices) {
  EXPECT_EQ(RunAll({{35, 43, 12, 16}, {1, 0, 3, 2}, 1}), 1);
  EXPECT_EQ(RunAll({{7, 190, 13, 8}, {1, 0, 3, 2}, 2}), 1);
}

TEST(AsTranspose, OtherPermutations) {
  TransposeArgs args;
  MatrixOffsets offsets;
  const auto is_transpose = [&](const PermuteCase& c) {
    PermuteTestProblem problem(c);
    const auto checked = CheckedPermuteArgs(problem.At(problem.in().data(), problem.out().data()));
    return AsTranspose(Canonical(*checked), &args, &offsets);
  };
  EXPECT_TRUE(is_transpose({{3, 20, 7}, {0, 2, 1}, 4}));
  EXPECT_EQ(offsets.nested, 0u);
  EXPECT_EQ(args.batch, 3);
  EXPECT_TRUE(is_transpose({{3, 2, 20, 7}, {1, 0, 3, 2}, 4}));
  EXPECT_EQ(offsets.nested, 3u);
  EXPECT_EQ(args.batch, 6);
  EXPECT_EQ(offsets.stride_in, 280);
  EXPECT_EQ(offsets.outer_in, 140);
  EXPECT_EQ(offsets.stride_out, 140);
  EXPECT_EQ(offsets.outer_out, 420);
  EXPECT_FALSE(IsGapless(args));
  const TransposeArgs second = BatchOf(args, offsets, 1);
  EXPECT_EQ(second.batch, 3);
  EXPECT_EQ(second.stride_in, 280);
  EXPECT_EQ(second.stride_out, 140);
  EXPECT_EQ(static_cast<const char*>(second.in) - static_cast<const char*>(args.in), 140 * 4);
  EXPECT_EQ(static_cast<char*>(second.out) - static_cast<char*>(args.out), 420 * 4);
  EXPECT_FALSE(is_transpose({{3, 2, 20, 7}, {1, 0, 2, 3}, 4}));        // Rows stay.
  EXPECT_FALSE(is_transpose({{3, 4, 20, 2, 7}, {2, 0, 4, 3, 1}, 4}));  // Five dimensions.
}

}  // namespace
}  // namespace stridewise
