// Random shapes, types, paddings, alignments and batches on the host executor, with all its checks
// on: for `auto`, for everything that it chooses from, and for squares in place.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/case_random.h"
#include "common/executor/executor.h"
#include "gtest/gtest.h"
#include "transpose/dispatch.h"
#include "transpose/registry.h"
#include "transpose/test/executor_fixture.h"
#include "transpose/test/random_cases.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {
namespace {

constexpr uint64_t kSeed = 20260131;
constexpr int64_t kQuickCases = 250;
constexpr int64_t kExhaustiveCases = 1000;

std::vector<std::string> Names() {
  std::vector<std::string> names = {"auto", "in_place_square"};
  for (const TransposeDispatch& row : TransposeDispatchTable()) {
    names.emplace_back(row.implementation);
  }
  return names;
}

// That of a block of compute capability 8.6, 8.9 and 12.0: the call runs there, too.
constexpr size_t kLeastSharedBytes = size_t{99} << 10;

class TransposeRandomTest : public TransposeOnExecutorTest,
                            public testing::WithParamInterface<std::string> {
 protected:
  executor::ExecutorOptions Options() const override {
    executor::ExecutorOptions options;
    options.threads = 1;  // The tests run in shards.
    options.schedule_seed = kSeed;
    if (GetParam() == "auto") options.max_shared_bytes = kLeastSharedBytes;
    return options;
  }
};

TEST_P(TransposeRandomTest, IsExact) {
  const TransposeImplementation& implementation = *FindTransposeImplementation(GetParam());
  RandomLimits limits;
  if (!implementation.batches) limits.batch = 1;
  limits.square = implementation.square_only;
  const int64_t cases = CaseCount(kQuickCases, kExhaustiveCases);
  for (int64_t number = 0; number < cases; ++number) {
    const RandomTranspose made = RandomTransposeCase(kSeed, number, limits);
    SCOPED_TRACE(testing::Message() << "case " << number << " of seed " << kSeed);
    RunCase(GetParam(), made.shape, made.element_bytes);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TransposeRandomTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

// Cases that no random case is large enough for: `auto` takes large skinny matrices of a batch in
// one launch, but rows and columns, which are copies, one by one.
using TransposeAutoTest = TransposeOnExecutorTest;
TEST_F(TransposeAutoTest, LargeSkinnyMatricesOfABatch) {
  const std::pair<TransposeCase, size_t> cases[] = {{{65537, 4, 0, -1, 3, 5}, 1},
                                                    {{4, 65537, 0, -1, 3, 5}, 1},
                                                    {{262145, 1, 0, -1, 3, 5}, 3},
                                                    {{1, 262145, 0, -1, 3, 5}, 3}};
  for (const auto& [c, launches] : cases) {
    RunCase("auto", c, 4);
    EXPECT_EQ(executor_->launches().size(), launches) << c;
  }
}

}  // namespace
}  // namespace stridewise
