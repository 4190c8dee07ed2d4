// Memory that blocks publish to each other: what a fence orders, and what it does not.

#include <memory>
#include <utility>
#include <vector>

#include "common/executor/executor.h"
#include "common/executor/finding.h"
#include "common/executor/testdata/publishing_kernels.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

class PublicationTest : public testing::TestWithParam<PublishingKernel> {};

TEST_P(PublicationTest, OrdersWhatIsFencedAndNothingElse) {
  for (const auto& [threads, seed] : {std::pair<int, uint64_t>{1, 0}, {2, 0}, {1, 1}, {3, 77}}) {
    if (seed != 0 && !GetParam().correct) continue;  // What a mistake does depends on the order.
    ExecutorOptions options;
    options.threads = threads;
    options.schedule_seed = seed;
    auto executor = Executor::Create(options);
    ASSERT_TRUE(executor.ok()) << executor.status();
    auto data = (*executor)->Allocate("data", 256 * sizeof(float));
    auto counters = (*executor)->Allocate("counters", 256 * sizeof(unsigned));
    ASSERT_TRUE(data.ok() && counters.ok());
    const std::vector<unsigned> zeros(256);
    data->Upload(zeros.data());
    counters->Upload(zeros.data());
    const absl::Status status =
        GetParam().launch(data->As<float>(), counters->As<unsigned>(), (*executor)->stream());
    EXPECT_EQ(status.ok(), GetParam().correct) << status << ", seed " << seed;
    for (const Finding& finding : (*executor)->launches().front().findings) {
      EXPECT_EQ(finding.check, Check::kRace) << status;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublicationTest, testing::ValuesIn(PublishingKernels()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace stridewise::executor
