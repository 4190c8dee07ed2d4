// PermuteOnHost(): random tensors in the caches and chosen ones past them, every byte of the result
// and around it, and what it refuses.

#include "transpose/permute_on_host.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/host_threads.h"
#include "gtest/gtest.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace {

void ExpectPermuted(const PermuteCase& c) {
  PermuteTestProblem test(c);
  const absl::Status status = PermuteOnHost(test.At(test.in().data(), test.out().data()));
  ASSERT_TRUE(status.ok()) << c << ": " << status;
  EXPECT_TRUE(test.Check().ok()) << c << ": " << test.Check();
}

class PermuteOnHostTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetHostThreads(GetParam()); }
  void TearDown() override { SetHostThreads(before_); }

 private:
  const int before_ = HostThreads();
};

TEST_P(PermuteOnHostTest, RandomCases) {
  for (int64_t number = 0; number < 400; ++number) {
    ExpectPermuted(RandomPermuteCase(20270301, number, 3000));
  }
  for (int64_t number = 0; number < 60; ++number) {
    ExpectPermuted(RandomPermuteCase(20270302, number, 300000));
  }
}

// Runs that stay, of 64 bytes and of pages; items whose outputs follow each other, and that do not;
// a batch that threads divide one matrix after the other; elements apart on one side.
TEST_P(PermuteOnHostTest, PastTheCaches) {
  for (const PermuteCase& c : {
           PermuteCase{{4, 129, 64, 64}, {0, 2, 1, 3}, 4},
           PermuteCase{{3, 17, 20000}, {1, 0, 2}, 8},
           PermuteCase{{8, 129, 16, 65}, {0, 2, 3, 1}, 8, {}, {}, 1, 1},
           PermuteCase{{30, 31, 32, 33}, {3, 1, 0, 2}, 8},
           PermuteCase{{2, 3, 1300, 1100}, {0, 3, 1, 2}, 1},
           PermuteCase{{1200, 900}, {1, 0}, 8, {0, 1}, {}},
       }) {
    ExpectPermuted(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, PermuteOnHostTest, testing::Values(1, 3));

TEST(PermuteOnHost, MovesSingleElementsAndNone) {
  ExpectPermuted({{}, {}, 8});
  ExpectPermuted({{1, 1, 1}, {2, 0, 1}, 16});
  ExpectPermuted({{3, 0, 5}, {2, 0, 1}, 4});
}

TEST(PermuteOnHost, RepeatsElementsWhoseStrideIsZero) {
  const std::vector<int> in = {1, 2, 3};
  std::vector<int> out(6);
  PermuteProblem problem;
  problem.rank = 2;
  problem.extents = {2, 3};
  problem.order = {1, 0};
  problem.in = in.data();
  problem.out = out.data();
  SetGaplessStrides(&problem);
  problem.strides_in = {0, 1};
  ASSERT_TRUE(PermuteOnHost(problem).ok());
  EXPECT_EQ(out, (std::vector<int>{1, 1, 2, 2, 3, 3}));
}

TEST(PermuteOnHost, RefusesWhatPermuteRefuses) {
  PermuteProblem problem;
  problem.rank = 7;
  const absl::Status status = PermuteOnHost(problem);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("rank is 7"), std::string::npos) << status;
}

}  // namespace
}  // namespace stridewise
