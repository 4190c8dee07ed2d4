#include "common/base/crew_job.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(CrewJobTest, KeepsItsNumbers) {
  constexpr uint64_t kLarge = (uint64_t{1} << 48) - 1;
  for (const uint64_t number : {uint64_t{1}, uint64_t{123456789}, kLarge}) {
    for (const int threads : {1, 16, CrewJob::kMostThreads}) {
      for (int64_t ranges = 1; ranges <= CrewJob::kMostRanges; ++ranges) {
        const CrewJob job(CrewJob(number, threads, ranges).word());
        EXPECT_EQ(job.number(), number);
        EXPECT_EQ(job.threads(), threads);
        EXPECT_EQ(job.ranges(), ranges);
      }
    }
  }
}

TEST(CrewJobTest, RangesFollowEachOther) {
  for (const int64_t threads : {1, 3, 16}) {
    for (const int64_t parts : {threads, threads + 1, 4 * threads - 1, 1000 * threads + 7}) {
      const CrewJob job(1, threads, 4);
      EXPECT_EQ(job.FirstPart(parts, 0, 0), 0);
      EXPECT_EQ(job.FirstPart(parts, threads - 1, 4), parts);
      for (int64_t thread = 1; thread < threads; ++thread) {
        EXPECT_EQ(job.FirstPart(parts, thread - 1, 4), job.FirstPart(parts, thread, 0));
      }
      // No thread has more than its share, rounded up.
      for (int64_t thread = 0; thread < threads; ++thread) {
        const int64_t count = job.FirstPart(parts, thread, 4) - job.FirstPart(parts, thread, 0);
        EXPECT_LE(count, (parts + threads - 1) / threads) << parts << " parts of " << threads;
      }
    }
  }
}

TEST(CrewJobTest, ARangeIsTakenOnceAndNotForAnOlderJob) {
  CrewLane lane;
  const CrewJob first(7, 4, 3);
  const CrewJob second(9, 2, 1);
  for (int64_t range = 0; range < 3; ++range) EXPECT_EQ(lane.Take(first), range);
  EXPECT_EQ(lane.Take(first), -1);
  EXPECT_EQ(lane.Take(second), 0);
  EXPECT_EQ(lane.Take(second), -1);
  EXPECT_EQ(lane.Take(first), -1);
  EXPECT_EQ(lane.Take(CrewJob(8, 4, 4)), -1);
}

TEST(CrewJobTest, ALaneIsDoneWithAllRangesOfAllJobs) {
  CrewLane lane;
  EXPECT_TRUE(lane.IsDone());
  lane.Expect(3);
  EXPECT_FALSE(lane.IsDone());
  lane.AddDone(2);
  EXPECT_FALSE(lane.IsDone());
  lane.AddDone(1);
  EXPECT_TRUE(lane.IsDone());
  lane.Expect(1);
  EXPECT_FALSE(lane.IsDone());
}

}  // namespace
}  // namespace stridewise
