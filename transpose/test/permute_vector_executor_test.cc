// permute_vector on the host executor: every byte of the result and around it, with checks of
// bounds, races and initialisation.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "transpose/permute.h"
#include "transpose/permute_vector_plan.h"
#include "transpose/test/permute_executor_fixture.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace executor {
LaunchStatus PermuteVector(const PermuteArgs& args);
}  // namespace executor

namespace {

// Tiles of one to a few vectors on either side, so that small tensors have edges.
PermuteVectorLimits Limits(int log2_groups, int column_bytes, int threads) {
  PermuteVectorLimits limits;
  limits.log2_groups = log2_groups;
  limits.column_bytes = column_bytes;
  limits.threads = threads;
  return limits;
}

class PermuteVectorTest : public PermuteExecutorFixture {
 protected:
  // Returns whether the kernel takes the case.
  bool Run(const PermuteCase& c, const PermuteVectorLimits& limits) {
    SCOPED_TRACE(testing::Message() << c << ", groups of 2^" << limits.log2_groups << ", "
                                    << limits.column_bytes << " bytes of columns");
    return RunWhere(c, IsMadeOfVectors, [&](PermuteArgs args) {
      args.vector_limits = &limits;
      return executor::PermuteVector(args);
    });
  }
  bool RunAll(const PermuteCase& c) {
    const bool takes = Run(c, Limits(0, 16, 32));
    EXPECT_EQ(Run(c, Limits(1, 48, 64)), takes);
    EXPECT_EQ(Run(c, Limits(3, 128, 256)), takes);
    EXPECT_EQ(Run(c, Limits(5, 512, 256)), takes);
    return takes;
  }
};

// Matrices of one vector and of several tiles with edges, in a batch that lies before, between and
// behind their rows and columns on either side.
TEST_F(PermuteVectorTest, EveryOrderOfABatch) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    const int64_t vector = 16 / bytes;
    for (const auto& [rows, columns] : {std::pair{1, 2}, std::pair{9, 5}}) {
      std::vector<int64_t> order = {0, 1, 2, 3};
      int taken = 0;
      do {
        // The last stays, or rows of 3 elements are no whole vectors: not for this kernel.
        std::vector<int64_t> extents = {3, rows * vector, 2, columns * vector};
        if (RunAll({extents, order, bytes})) ++taken;
      } while (std::next_permutation(order.begin(), order.end()));
      EXPECT_GE(taken, 4) << bytes;
    }
  }
}

TEST_F(PermuteVectorTest, GapsOfWholeVectors) {
  EXPECT_TRUE(RunAll({{3, 32, 2, 48}, {3, 0, 2, 1}, 2, {8, 0, 16, 0}, {16, 8, 0, 0}, 8, 16}));
  EXPECT_TRUE(RunAll({{64, 5, 32}, {2, 1, 0}, 1, {16, 32, 0}, {0, 16, 0}, 16, 48}));
  EXPECT_TRUE(RunAll({{2, 3, 20, 2, 36}, {4, 1, 3, 0, 2}, 4}));
  EXPECT_TRUE(RunAll({{2, 2, 16, 2, 3, 12}, {2, 4, 0, 5, 1, 3}, 8}) ||
              RunAll({{2, 2, 16, 2, 3, 12}, {5, 4, 0, 1, 3, 2}, 8}));
}

// What begins or ends inside a vector, or has one innermost dimension on both sides.
TEST_F(PermuteVectorTest, OtherPermutations) {
  EXPECT_TRUE(Run({{32, 3, 48}, {2, 1, 0}, 1}, {}));
  EXPECT_FALSE(Run({{32, 3, 47}, {2, 1, 0}, 1}, {}));
  EXPECT_FALSE(Run({{33, 3, 48}, {2, 1, 0}, 1}, {}));
  EXPECT_FALSE(Run({{32, 3, 48}, {2, 1, 0}, 1, {}, {}, 1, 0}, {}));
  EXPECT_FALSE(Run({{32, 3, 48}, {2, 1, 0}, 1, {}, {}, 0, 8}, {}));
  EXPECT_FALSE(Run({{32, 3, 48}, {2, 1, 0}, 1, {0, 0, 8}}, {}));
  EXPECT_FALSE(Run({{32, 3, 48}, {2, 1, 0}, 1, {}, {0, 0, 8}}, {}));
  EXPECT_FALSE(Run({{32, 3, 48}, {1, 0, 2}, 1}, {}));
}

}  // namespace
}  // namespace stridewise
