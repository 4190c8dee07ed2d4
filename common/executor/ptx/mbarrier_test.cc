#include "common/executor/ptx/mbarrier.h"

#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

TEST(Mbarrier, APhaseEndsWithItsLastArrival) {
  Mbarrier barrier(3);
  EXPECT_EQ(barrier.Arrive(2, 0, false), "");
  EXPECT_EQ(barrier.phase(), 0u);
  EXPECT_EQ(Mbarrier::PendingOf(barrier.State()), 1u);
  EXPECT_EQ(barrier.Arrive(1, 0, false), "");
  EXPECT_EQ(barrier.phase(), 1u);
  EXPECT_EQ(Mbarrier::PhaseOf(barrier.State()), 1u);
  EXPECT_TRUE(barrier.untouched());
}

TEST(Mbarrier, APhaseEndsWithItsLastByte) {
  Mbarrier barrier(1);
  EXPECT_EQ(barrier.Arrive(1, 512, false), "");
  EXPECT_EQ(barrier.CompleteBytes(511), "");
  EXPECT_EQ(barrier.phase(), 0u);
  EXPECT_EQ(barrier.PendingText(), "0 of 1 arrivals and 1 bytes are pending");
  EXPECT_EQ(barrier.CompleteBytes(1), "");
  EXPECT_EQ(barrier.phase(), 1u);
}

TEST(Mbarrier, BytesMayArriveBeforeTheyAreExpected) {
  Mbarrier barrier(1);
  EXPECT_EQ(barrier.CompleteBytes(64), "");
  EXPECT_EQ(barrier.pending_bytes(), -64);
  EXPECT_EQ(barrier.Arrive(1, 64, false), "");
  EXPECT_EQ(barrier.phase(), 1u);
}

TEST(Mbarrier, AThreadThatDropsOutIsNotExpectedAgain) {
  Mbarrier barrier(2);
  EXPECT_EQ(barrier.Arrive(1, 0, true), "");
  EXPECT_EQ(barrier.phase(), 0u);
  EXPECT_EQ(barrier.Arrive(1, 0, false), "");
  EXPECT_EQ(barrier.phase(), 1u);
  EXPECT_EQ(barrier.pending(), 1u);
}

TEST(Mbarrier, NamesWrongCounts) {
  Mbarrier barrier(2);
  EXPECT_EQ(barrier.Arrive(3, 0, false),
            "3 arrivals where 2 of 2 arrivals and 0 bytes are pending");
  EXPECT_NE(barrier.Arrive(0, 0, false), "");
  EXPECT_NE(barrier.Arrive(1, Mbarrier::kMaxBytes + 1, false), "");
  EXPECT_NE(barrier.CompleteBytes(Mbarrier::kMaxBytes + 1), "");
  EXPECT_TRUE(barrier.untouched());
  EXPECT_EQ(barrier.Arrive(2, 8, false), "");
  EXPECT_EQ(barrier.Arrive(1, 0, false),
            "1 arrivals where 0 of 2 arrivals and 8 bytes are pending");
}

}  // namespace
}  // namespace stridewise::executor
