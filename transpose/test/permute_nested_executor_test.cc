// Permutations that are batches of batches of transposes, by each kernel that takes them, on the
// host executor: every byte of the result and around it, with checks of bounds, races and
// initialisation.

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "transpose/host_executor.h"
#include "transpose/permute.h"
#include "transpose/permute_as_transpose.h"
#include "transpose/registry.h"
#include "transpose/test/permute_executor_fixture.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace {

class PermuteNestedTest : public PermuteExecutorFixture {
 protected:
  // Runs the case by each kernel that takes batches of batches.
  void RunAll(const PermuteCase& c) {
    int kernels = 0;
    for (const TransposeImplementation& entry : TransposeLibrary()) {
      if (!entry.nested_batches) continue;
      SCOPED_TRACE(testing::Message() << c << " by " << entry.name);
      const auto implementation = OnHostExecutor(entry);
      ASSERT_TRUE(implementation.ok()) << implementation.status();
      RunWith(c, [&](const PermuteArgs& canonical) {
        TransposeArgs args;
        EXPECT_TRUE(AsTranspose(canonical, &args));
        EXPECT_GT(args.nested, 1);
        return implementation->run(args);
      });
      ++kernels;
    }
    EXPECT_GE(kernels, 9);
  }
};

// Both orders of a batch whose dimensions are exchanged, for matrices of the shapes that the
// kernels are made for, and others.
TEST_F(PermuteNestedTest, BatchesThatAreExchanged) {
  const struct {
    int64_t rows, cols, bytes;
  } matrices[] = {{20, 64, 2}, {56, 128, 1}, {70, 210, 1}, {65, 33, 4},  {33, 65, 8},
                  {12, 40, 2}, {5, 300, 1},  {300, 5, 2},  {64, 64, 16}, {130, 257, 1}};
  for (const auto& m : matrices) {
    RunAll({{3, 2, m.rows, m.cols}, {1, 0, 3, 2}, m.bytes});
    RunAll({{2, 4, m.rows, m.cols}, {1, 0, 3, 2}, m.bytes, {}, {}, 1, 3});
    RunAll({{2, m.rows, 3, m.cols}, {2, 0, 3, 1}, m.bytes});
    RunAll({{2, m.rows, 3, m.cols}, {0, 2, 3, 1}, m.bytes, {5, 0, 1, 0}, {0, 3, 0, 0}, 0, 1});
  }
}

// So many that tile_strips' blocks have several, of which some are before and others behind the end
// of a batch.
TEST_F(PermuteNestedTest, ManySmallMatrices) {
  RunAll({{35, 43, 12, 16}, {1, 0, 3, 2}, 1});
  RunAll({{7, 190, 13, 8}, {1, 0, 3, 2}, 2});
}

TEST(AsTranspose, OtherPermutations) {
  TransposeArgs args;
  const auto canonical = [](const PermuteCase& c) {
    PermuteTestProblem problem(c);
    return Canonical(*CheckedPermuteArgs(problem.At(problem.in().data(), problem.out().data())));
  };
  EXPECT_TRUE(AsTranspose(canonical({{3, 20, 7}, {0, 2, 1}, 4}), &args));
  EXPECT_EQ(args.nested, 0);
  EXPECT_EQ(args.batch, 3);
  EXPECT_TRUE(AsTranspose(canonical({{3, 2, 20, 7}, {1, 0, 3, 2}, 4}), &args));
  EXPECT_EQ(args.nested, 3);
  EXPECT_EQ(args.batch, 6);
  EXPECT_EQ(args.stride_in, 280);
  EXPECT_EQ(args.outer_in, 140);
  EXPECT_EQ(args.stride_out, 140);
  EXPECT_EQ(args.outer_out, 420);
  EXPECT_FALSE(AsTranspose(canonical({{3, 2, 20, 7}, {1, 0, 2, 3}, 4}), &args));  // Rows stay.
  EXPECT_FALSE(AsTranspose(canonical({{3, 4, 20, 2, 7}, {2, 0, 4, 3, 1}, 4}), &args));  // Rank 5.
}

}  // namespace
}  // namespace stridewise
