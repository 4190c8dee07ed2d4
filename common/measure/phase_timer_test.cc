#include "common/measure/phase_timer.h"

#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Returns a phase's work: `seconds` pass and it ends with `status`.
auto Work(FakeClock* clock, double seconds, const absl::Status& status = absl::OkStatus()) {
  return [clock, seconds, status] {
    clock->Advance(seconds);
    return status;
  };
}

TEST(PhaseTimer, KeepsPhasesApart) {
  FakeClock clock;
  PhaseTimer timer(&clock);
  ASSERT_TRUE(timer.Time(Phase::kH2d, Work(&clock, 0.25)).ok());
  clock.Advance(10);  // Between phases, so that it counts for none.
  ASSERT_TRUE(timer.Time(Phase::kD2h, Work(&clock, 0.5)).ok());
  EXPECT_DOUBLE_EQ(timer.Ms(Phase::kH2d).value(), 250);
  EXPECT_DOUBLE_EQ(timer.Ms(Phase::kD2h).value(), 500);
}

TEST(PhaseTimer, UntimedPhaseIsUnknownAndInstantOneIsZero) {
  FakeClock clock;
  PhaseTimer timer(&clock);
  ASSERT_TRUE(timer.Time(Phase::kFree, Work(&clock, 0)).ok());
  EXPECT_EQ(timer.Ms(Phase::kFree), 0);
  EXPECT_EQ(timer.Ms(Phase::kAlloc), std::nullopt);
}

TEST(PhaseTimer, PiecesAddUp) {
  FakeClock clock;
  PhaseTimer timer(&clock);
  ASSERT_TRUE(timer.Time(Phase::kAlloc, Work(&clock, 0.5)).ok());
  ASSERT_TRUE(timer.Time(Phase::kAlloc, Work(&clock, 0.25)).ok());
  timer.Add(Phase::kAlloc, 3);
  EXPECT_DOUBLE_EQ(timer.Ms(Phase::kAlloc).value(), 753);
}

TEST(PhaseTimer, TotalHoldsThePhasesInsideAndWhatLiesBetween) {
  FakeClock clock;
  PhaseTimer timer(&clock);
  const auto all = [&] {
    absl::Status status = timer.Time(Phase::kH2d, Work(&clock, 0.5));
    clock.Advance(0.25);
    return status;
  };
  ASSERT_TRUE(timer.Time(Phase::kTotal, all).ok());
  EXPECT_DOUBLE_EQ(timer.Ms(Phase::kH2d).value(), 500);
  EXPECT_DOUBLE_EQ(timer.Ms(Phase::kTotal).value(), 750);
}

TEST(PhaseTimer, FailedPhaseHasNoTimeAndPassesItsErrorOn) {
  FakeClock clock;
  PhaseTimer timer(&clock);
  const absl::Status error = absl::ResourceExhaustedError("out of memory");
  EXPECT_EQ(timer.Time(Phase::kAlloc, Work(&clock, 1, error)), error);
  EXPECT_EQ(timer.Ms(Phase::kAlloc), std::nullopt);
}

TEST(PhaseMedians, TakesEachPhaseOverThePassesThatTimedIt) {
  FakeClock clock;
  PhaseMedians medians;
  for (const double ms : {9.0, 1.0, 2.0, 4.0}) {
    PhaseTimer pass(&clock);
    pass.Add(Phase::kH2d, ms);
    if (ms == 9.0) pass.Add(Phase::kInit, 100);  // Only the first pass makes the context.
    medians.Add(pass);
  }
  EXPECT_EQ(medians.Ms(Phase::kH2d), 3);
  EXPECT_EQ(medians.Ms(Phase::kInit), 100);
  EXPECT_EQ(medians.Ms(Phase::kD2h), std::nullopt);
}

}  // namespace
}  // namespace stridewise
