#include "bindings/cublas/call_trials.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise::drop_in {
namespace {

constexpr CallShape kShape = {1, 2, 3};
constexpr CallShape kOther = {1, 2, 4};

// Makes the timed calls of a shape, with these times, the last of each way last.
void Try(const CallShape& shape, double ours_us, double cublas_us, CallTrials* trials) {
  for (int i = 0; i < 2 * CallTrials::kSamples; ++i) {
    const CallTrials::Turn turn = trials->Next(shape, Way::kCublas);
    ASSERT_TRUE(turn.timed) << i;
    // The first call of each way waits for the host.
    const double waits = i < 2 ? 1000 : 0;
    trials->Add(shape, turn.way, waits + (turn.way == Way::kOurs ? ours_us : cublas_us));
  }
}

TEST(CallTrialsTest, TriesBothWaysEquallyOften) {
  CallTrials trials;
  int ours = 0;
  for (int i = 0; i < 2 * CallTrials::kSamples; ++i) {
    const CallTrials::Turn turn = trials.Next(kShape, Way::kCublas);
    EXPECT_TRUE(turn.timed) << i;
    ours += turn.way == Way::kOurs ? 1 : 0;
  }
  EXPECT_EQ(ours, CallTrials::kSamples);
}

TEST(CallTrialsTest, TakesTheFasterWay) {
  CallTrials trials;
  Try(kShape, 10, 9.9, &trials);
  Try(kOther, 10, 10.1, &trials);
  for (const Way predicted : {Way::kOurs, Way::kCublas}) {
    EXPECT_EQ(trials.Next(kShape, predicted).way, Way::kCublas);
    EXPECT_EQ(trials.Next(kOther, predicted).way, Way::kOurs);
    EXPECT_EQ(trials.Known(kShape, predicted), Way::kCublas);
    EXPECT_EQ(trials.Known(kOther, predicted), Way::kOurs);
    EXPECT_FALSE(trials.Next(kShape, predicted).timed);
  }
}

TEST(CallTrialsTest, FollowsThePredictionWhileTimesAreUnknown) {
  CallTrials trials;
  for (const Way predicted : {Way::kOurs, Way::kCublas}) {
    EXPECT_EQ(trials.Known(kShape, predicted), predicted);
  }
  for (int i = 0; i < 2 * CallTrials::kSamples; ++i) trials.Next(kShape, Way::kOurs);
  for (const Way predicted : {Way::kOurs, Way::kCublas}) {
    const CallTrials::Turn turn = trials.Next(kShape, predicted);
    EXPECT_FALSE(turn.timed);
    EXPECT_EQ(turn.way, predicted);
  }
}

TEST(CallTrialsTest, LeavesAWayThatFails) {
  for (const Way way : {Way::kOurs, Way::kCublas}) {
    CallTrials trials;
    trials.Next(kShape, Way::kOurs);
    trials.Abandon(kShape, way);
    EXPECT_NE(trials.Next(kShape, way).way, way);
    EXPECT_FALSE(trials.Next(kShape, way).timed);
  }
}

TEST(CallTrialsTest, ThreadsShareTheTrialsOfAShape) {
  CallTrials trials;
  int timed[4] = {};
  std::vector<std::thread> threads;
  for (int& count : timed) {
    threads.emplace_back([&trials, &count] {
      for (int i = 0; i < 100; ++i) {
        const CallTrials::Turn turn = trials.Next(kShape, Way::kCublas);
        if (!turn.timed) continue;
        trials.Add(kShape, turn.way, turn.way == Way::kOurs ? 1 : 2);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(timed[0] + timed[1] + timed[2] + timed[3], 2 * CallTrials::kSamples);
  EXPECT_EQ(trials.Known(kShape, Way::kCublas), Way::kOurs);
}

}  // namespace
}  // namespace stridewise::drop_in
