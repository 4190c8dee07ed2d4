#include "common/measure/sustained.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

// A device whose work takes time when it is waited for, and energy with it.
class FakeDevice : public Nvml {
 public:
  explicit FakeDevice(bool counts_energy = true) : counts_energy_(counts_energy) {}

  DeviceState Read() const override {
    DeviceState state;
    state.sm_clock_mhz = clock_mhz_;
    return state;
  }
  std::optional<double> EnergyJoules() const override {
    if (!counts_energy_) return std::nullopt;
    return joules_;
  }
  std::string DriverVersion() const override { return ""; }

  // Work that takes a second or a part of it at this power; named in `order` when it begins.
  SustainedRun Work(char name, double seconds, double watts, int clock_mhz) {
    return [=] {
      ++queued_[mark_];
      seconds_[mark_] += seconds;
      joules_of_[mark_] += seconds * watts;
      clock_mhz_ = clock_mhz;
      if (order_.empty() || order_.back() != name) order_ += name;
      return absl::OkStatus();
    };
  }

  SustainedQueue Queue() {
    return {[this](int mark) {
              EXPECT_EQ(mark, mark_) << "a mark that is not done";
              mark_ = 1 - mark;
              return absl::OkStatus();
            },
            [this](int mark) {
              most_queued_ = std::max(most_queued_, queued_[0] + queued_[1]);
              clock_.Advance(seconds_[mark]);
              joules_ += joules_of_[mark];
              queued_[mark] = 0;
              seconds_[mark] = joules_of_[mark] = 0;
              if (queued_[0] + queued_[1] == 0) mark_ = 0;
              return absl::OkStatus();
            }};
  }

  const FakeClock& clock() const { return clock_; }
  const std::string& order() const { return order_; }
  int most_queued() const { return most_queued_; }

 private:
  bool counts_energy_;
  FakeClock clock_;
  double joules_ = 1000;  // Of earlier work.
  int clock_mhz_ = 0;
  int mark_ = 0;
  int queued_[2] = {};
  int most_queued_ = 0;
  double seconds_[2] = {}, joules_of_[2] = {};
  std::string order_;
};

TEST(RunSustained, AddsUpTimeEnergyAndClockOfEachContestant) {
  FakeDevice device;
  const SustainedRun runs[] = {device.Work('a', 0.002, 700, 1500),
                               device.Work('b', 0.004, 500, 1800)};
  SustainedOptions options;
  options.seconds = 3;
  options.slice_seconds = 1;
  const auto totals = RunSustained(runs, device.Queue(), options, device.clock(), device);
  ASSERT_TRUE(totals.ok()) << totals.status();
  ASSERT_EQ(totals->size(), 2u);
  const double watts[] = {700, 500};
  const double seconds[] = {0.002, 0.004};
  const double clocks[] = {1500, 1800};
  for (int i = 0; i < 2; ++i) {
    const Sustained& total = (*totals)[i];
    EXPECT_GE(total.seconds, 3);
    EXPECT_LT(total.seconds, 3.5);
    EXPECT_NEAR(total.seconds, seconds[i] * static_cast<double>(total.runs), 1e-9);
    ASSERT_TRUE(total.joules.has_value());
    EXPECT_NEAR(*total.joules, watts[i] * total.seconds, 1e-6);
    EXPECT_EQ(total.sm_clock_mhz, clocks[i]);
  }
}

TEST(RunSustained, TakesTurnsThereAndBack) {
  FakeDevice device;
  const SustainedRun runs[] = {device.Work('a', 0.01, 1, 1), device.Work('b', 0.01, 1, 1),
                               device.Work('c', 0.01, 1, 1)};
  SustainedOptions options;
  options.seconds = 5;
  options.slice_seconds = 2;
  ASSERT_TRUE(RunSustained(runs, device.Queue(), options, device.clock(), device).ok());
  // Once each to warm up, then slices of 2, 2 and 1 seconds.
  EXPECT_EQ(device.order(), "abcabcbabc");
  EXPECT_GT(device.most_queued(), 1);
}

TEST(RunSustained, KeepsRunsThatAreLongerThanASlice) {
  FakeDevice device(/*counts_energy=*/false);
  const SustainedRun runs[] = {device.Work('a', 7, 1, 1)};
  SustainedOptions options;
  options.seconds = 1;
  options.slice_seconds = 1;
  const auto totals = RunSustained(runs, device.Queue(), options, device.clock(), device);
  ASSERT_TRUE(totals.ok());
  EXPECT_EQ((*totals)[0].seconds, 7.0 * static_cast<double>((*totals)[0].runs));
  EXPECT_FALSE((*totals)[0].joules.has_value());
}

TEST(RunSustained, ReturnsErrorsAndEndsWhenInterrupted) {
  FakeDevice device;
  const SustainedRun fails[] = {[] { return absl::InternalError("launch"); }};
  EXPECT_EQ(RunSustained(fails, device.Queue(), {}, device.clock(), device).status(),
            absl::InternalError("launch"));
  const SustainedRun runs[] = {device.Work('a', 0.01, 1, 1)};
  SustainedOptions options;
  options.interrupted = [] { return true; };
  EXPECT_TRUE(absl::IsCancelled(
      RunSustained(runs, device.Queue(), options, device.clock(), device).status()));
}

}  // namespace
}  // namespace stridewise
