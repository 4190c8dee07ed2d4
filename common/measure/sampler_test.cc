#include "common/measure/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "common/measure/statistics.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// A measurement whose run i returns ms(i) and advances the clock by it.
class Subject {
 public:
  Subject(FakeClock* clock, std::function<double(int)> ms) : clock_(clock), ms_(std::move(ms)) {}

  Measure Measured() {
    return [this]() -> absl::StatusOr<double> {
      const double ms = ms_(runs_++);
      clock_->Advance(ms * 1e-3);
      return ms;
    };
  }

  int runs() const { return runs_; }

 private:
  FakeClock* clock_;
  std::function<double(int)> ms_;
  int runs_ = 0;
};

double Noisy(int run) { return run % 2 == 0 ? 1.0 : 2.0; }

class SampleTest : public ::testing::Test {
 protected:
  Samples SampleOrFail(const Measure& subject, const Measure& reference = nullptr,
                       const std::function<bool()>& interrupted = nullptr) {
    absl::StatusOr<Samples> samples = Sample(options_, clock_, subject, reference, interrupted);
    EXPECT_TRUE(samples.ok()) << samples.status();
    return samples.value_or(Samples());
  }

  FakeClock clock_;
  SamplingOptions options_;
};

TEST_F(SampleTest, StopsEarlyOnConstantData) {
  Subject subject(&clock_, [](int) { return 1.0; });
  const Samples samples = SampleOrFail(subject.Measured());
  EXPECT_TRUE(samples.converged);
  EXPECT_FALSE(samples.interrupted);
  EXPECT_EQ(samples.ms, std::vector<double>(7, 1.0));
  EXPECT_EQ(samples.warmup_runs, 6);  // Two windows of three.
  EXPECT_EQ(subject.runs(), 13);
}

TEST_F(SampleTest, NoisyDataUsesTheSecondsAndNoMore) {
  Subject subject(&clock_, Noisy);
  options_.max_warmup_seconds = 0;
  const Samples samples = SampleOrFail(subject.Measured());
  EXPECT_FALSE(samples.converged);
  double sum = 0;
  for (const double ms : samples.ms) sum += ms;
  EXPECT_GE(sum, 999.999);
  EXPECT_LT(sum, 1002.001);
}

TEST_F(SampleTest, ModerateNoiseStopsOnceTheMedianIsKnown) {
  // Evenly from 0.9 to 1.1 ms: n samples know the median to 0.98 * 0.2 / sqrt(n), 384 to 1 %.
  Subject subject(&clock_, [](int run) { return 0.9 + 0.2 * std::fmod(run * 0.618034, 1.0); });
  options_.max_seconds = 1e9;
  const Samples samples = SampleOrFail(subject.Measured());
  EXPECT_TRUE(samples.converged);
  EXPECT_LE(RelativeHalfWidth(Summarize(samples.ms)), 0.01);
  EXPECT_GT(samples.ms.size(), 340u);
  EXPECT_LT(samples.ms.size(), 430u);
}

TEST_F(SampleTest, MaxSamplesEndsIt) {
  Subject subject(&clock_, Noisy);
  options_.max_seconds = 1e9;
  options_.max_samples = 123;
  const Samples samples = SampleOrFail(subject.Measured());
  EXPECT_EQ(samples.ms.size(), 123u);
  EXPECT_FALSE(samples.converged);
}

TEST_F(SampleTest, EndsOnAClockThatStandsStill) {
  const Samples samples = SampleOrFail([] { return 0.0; });
  EXPECT_EQ(samples.ms.size(), static_cast<size_t>(options_.max_samples));
  EXPECT_FALSE(samples.converged);
}

TEST_F(SampleTest, RampOfTheClockIsNotSampled) {
  // The clock doubles over 40 runs, then remains.
  Subject subject(&clock_, [](int run) { return 2.0 - std::min(run, 40) / 40.0; });
  const Samples samples = SampleOrFail(subject.Measured());
  EXPECT_GE(samples.warmup_runs, 40);
  EXPECT_LE(samples.warmup_runs, 46);
  EXPECT_EQ(*std::max_element(samples.ms.begin(), samples.ms.end()), 1.0);
}

TEST_F(SampleTest, WarmUpThatIsNeverSteadyEndsWithItsSeconds) {
  Subject subject(&clock_, [](int run) { return std::pow(0.9, std::min(run, 1000) / 3); });
  options_.max_warmup_seconds = 0.01;
  const Samples samples = SampleOrFail(subject.Measured());
  EXPECT_GT(samples.warmup_runs, 6);
  EXPECT_LT(samples.warmup_runs, 20);
}

TEST_F(SampleTest, SubjectLongerThanAllBudgetsRunsTwice) {
  Subject subject(&clock_, [](int) { return 30000.0; });
  const Samples samples = SampleOrFail(subject.Measured());
  EXPECT_EQ(samples.warmup_runs, 1);
  EXPECT_EQ(samples.ms, std::vector<double>(1, 30000.0));
  EXPECT_FALSE(samples.converged);
}

TEST_F(SampleTest, ReferenceIsSampledInTurnAndInAlternatingOrder) {
  std::string order;
  const Measure subject = [&] {
    order += 's';
    clock_.Advance(1e-3);
    return 1.0;
  };
  const Measure reference = [&] {
    order += 'r';
    clock_.Advance(1e-3);
    return 3.0;
  };
  options_.max_warmup_seconds = 0;
  const Samples samples = SampleOrFail(subject, reference);
  EXPECT_EQ(order,
            "sr"
            "srrssrrssrrssr");
  EXPECT_EQ(samples.ms, std::vector<double>(7, 1.0));
  EXPECT_EQ(samples.reference_ms, std::vector<double>(7, 3.0));
  EXPECT_TRUE(samples.converged);
}

TEST_F(SampleTest, NoisyReferenceKeepsItGoing) {
  Subject subject(&clock_, [](int) { return 1.0; });
  Subject reference(&clock_, Noisy);
  const Samples samples = SampleOrFail(subject.Measured(), reference.Measured());
  EXPECT_FALSE(samples.converged);
  EXPECT_GT(samples.ms.size(), 100u);
  EXPECT_EQ(samples.reference_ms.size(), samples.ms.size());
}

TEST_F(SampleTest, PairsGoOnToTheirNumberWithinSecondsOfTheirOwn) {
  const struct {
    double ms;
    double min_seconds_of_pairs;
    size_t pairs;
  } cases[] = {{1, 0, 2}, {1, 0.1, 7}, {20, 0.1, 3}, {200, 0.1, 1}};
  for (const auto& c : cases) {
    Subject subject(&clock_, [&](int) { return c.ms; });
    Subject reference(&clock_, [&](int) { return c.ms; });
    options_.max_seconds = 0.0039;
    options_.min_seconds_of_pairs = c.min_seconds_of_pairs;
    const Samples pairs = SampleOrFail(subject.Measured(), reference.Measured());
    EXPECT_EQ(pairs.ms.size(), c.pairs) << c.ms;
    EXPECT_EQ(pairs.reference_ms.size(), c.pairs) << c.ms;
    // Single samples end as they do without it.
    const Samples samples = SampleOrFail(subject.Measured());
    EXPECT_EQ(samples.ms.size(), c.ms == 1 ? 4u : 1u) << c.ms;
  }
}

TEST_F(SampleTest, ReferenceThatIsLateTwiceInFourRunsDoesNotDecide) {
  // Another program has a core of the reference's in its first and third run of seven.
  Subject subject(&clock_, [](int) { return 1.0; });
  Subject reference(&clock_, [](int run) { return run == 1 || run == 3 ? 50.0 : 0.5; });
  options_.max_seconds = 0.06;
  EXPECT_GT(PairedRatio(SampleOrFail(subject.Measured(), reference.Measured())), 1);
  Subject again(&clock_, [](int run) { return run == 1 || run == 3 ? 50.0 : 0.5; });
  options_.min_seconds_of_pairs = 0.25;
  EXPECT_DOUBLE_EQ(PairedRatio(SampleOrFail(subject.Measured(), again.Measured())), 0.5);
}

TEST_F(SampleTest, ErrorsPassThrough) {
  const absl::Status error = absl::DataLossError("the device is gone");
  for (const int failing_run : {0, 3, 9}) {  // The first one, in warm-up, and in sampling.
    Subject good(&clock_, [](int) { return 1.0; });
    int runs = 0;
    const Measure failing = [&]() -> absl::StatusOr<double> {
      if (runs++ == failing_run) return error;
      clock_.Advance(1e-3);
      return 1.0;
    };
    EXPECT_EQ(Sample(options_, clock_, failing, nullptr, nullptr).status(), error) << failing_run;
    runs = 0;
    options_.min_samples = 20;
    EXPECT_EQ(Sample(options_, clock_, good.Measured(), failing, nullptr).status(), error)
        << failing_run;
    options_.min_samples = 7;
  }
}

TEST_F(SampleTest, ImpossibleTimesAreErrors) {
  for (const double ms :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto measure = [ms] { return ms; };
    EXPECT_EQ(Sample(options_, clock_, measure, nullptr, nullptr).status().code(),
              absl::StatusCode::kInternal)
        << ms;
  }
}

TEST_F(SampleTest, InterruptionReturnsWhatItHas) {
  const struct {
    int after_runs;
    int warmup_runs;
    size_t samples;
  } cases[] = {{0, 0, 0}, {4, 4, 0}, {10, 6, 4}};
  for (const auto& c : cases) {
    Subject subject(&clock_, [](int) { return 1.0; });
    const Samples samples =
        SampleOrFail(subject.Measured(), nullptr, [&] { return subject.runs() >= c.after_runs; });
    EXPECT_TRUE(samples.interrupted) << c.after_runs;
    EXPECT_FALSE(samples.converged) << c.after_runs;
    EXPECT_EQ(samples.warmup_runs, c.warmup_runs) << c.after_runs;
    EXPECT_EQ(samples.ms.size(), c.samples) << c.after_runs;
  }
}

TEST_F(SampleTest, OptionsWithoutSenseAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<SamplingOptions> cases(8);
  cases[0].max_noise = -0.1;
  cases[1].max_noise = nan;
  cases[2].max_seconds = -1;
  cases[3].max_warmup_seconds = nan;
  cases[4].min_samples = 0;
  cases[5].max_samples = 6;  // Fewer than min_samples.
  cases[7].min_seconds_of_pairs = nan;
  Subject subject(&clock_, [](int) { return 1.0; });
  for (size_t i = 0; i < cases.size(); ++i) {
    const Measure measure = i == 6 ? Measure() : subject.Measured();
    EXPECT_EQ(Sample(cases[i], clock_, measure, nullptr, nullptr).status().code(),
              absl::StatusCode::kInvalidArgument)
        << i;
  }
  EXPECT_EQ(subject.runs(), 0);
}

TEST(PairedRatio, IsTheMedianOfThePairsAndNotTheRatioOfTheMedians) {
  Samples samples;
  samples.ms = {1, 2, 4};
  samples.reference_ms = {8, 2, 8};  // Ratios 8, 1, 2; the medians' ratio would be 4.
  EXPECT_DOUBLE_EQ(PairedRatio(samples), 2);
}

TEST(PairedRatio, OfSidesThatChangePlacesIsTheInverse) {
  Samples samples;
  samples.ms = {1, 1, 1, 1};
  samples.reference_ms = {44, 0.4, 44, 0.4};
  const double ratio = PairedRatio(samples);
  EXPECT_DOUBLE_EQ(ratio, std::sqrt(44 * 0.4));
  std::swap(samples.ms, samples.reference_ms);
  EXPECT_DOUBLE_EQ(PairedRatio(samples), 1 / ratio);
}

TEST(PairedRatio, IsUnknownWithoutAReferenceOrATime) {
  Samples samples;
  samples.ms = {1, 2, 3};
  EXPECT_TRUE(std::isnan(PairedRatio(samples)));
  samples.ms = {0};
  samples.reference_ms = {1};
  EXPECT_TRUE(std::isnan(PairedRatio(samples)));
}

}  // namespace
}  // namespace stridewise
