// Thresholds from made-up times.

#include "benchmarks/tuning/tuning_fit.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "matmul/dispatch.h"

namespace stridewise {
namespace {

// Fixed, so that what is measured next does not change what is tested here.
constexpr MatMulTuning kPresent = {90, 16000, 160, 16,  512, 200, 2048, 132,
                                   64, 264,   90,  132, 178, 167, 122,  106};

MatMulArgs Args(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.a.ld = k;
  args.b.ld = n;
  args.c.ld = n;
  args.batch = batch;
  return args;
}

// Around every threshold, those of squares and those that only other shapes reach.
std::vector<MatMulArgs> ManyShapes() {
  std::vector<MatMulArgs> shapes;
  for (const int64_t n : {8,   32,  64,  96,  128, 160,  192,  224,  256,  320,  384,  448,
                          512, 576, 640, 768, 896, 1024, 1152, 1280, 1536, 2048, 3072, 4096}) {
    shapes.push_back(Args(n, n, n));
  }
  for (const int64_t lines : {1, 4, 8, 12, 16, 24, 32, 48, 64, 100}) {
    for (const int64_t k : {64, 128, 256, 512, 1024, 4096}) shapes.push_back(Args(lines, 4096, k));
  }
  for (const int64_t k : {64, 256, 512, 1024, 2048, 4096, 8192}) {
    shapes.push_back(Args(256, 256, k));
    shapes.push_back(Args(320, 320, k));
    shapes.push_back(Args(64, 64, k, 500));
  }
  for (const int64_t n : {64, 128, 192, 320, 384, 448, 640}) shapes.push_back(Args(8192, n, 1024));
  for (const int64_t batch : {2, 50, 100, 200, 400}) shapes.push_back(Args(64, 64, 64, batch));
  return shapes;
}

// What the table chooses by `rule` takes 1 ms, all else twice as long.
std::vector<MatMulTimes> TimesBy(const MatMulTuning& rule) {
  std::vector<MatMulTimes> all;
  for (const MatMulArgs& args : ManyShapes()) {
    MatMulTimes times = {args, {}};
    for (const MatMulDispatch& row : MatMulDispatchTable()) times.ms[row.implementation] = 2;
    times.ms[ChooseMatMul(args, H200Model(), RunsOn::kDevice, rule).implementation] = 1;
    all.push_back(times);
  }
  return all;
}

std::string Fitted(const std::vector<MatMulTimes>& times, const MatMulTuning& present) {
  return TuningLine(FitTuning(times, 90, present));
}

TEST(FitTuning, RecoversAKnownRule) {
  std::vector<MatMulTuning> rules(10, kPresent);
  rules[0].tiny_work = 64000;  // Of squares neither helps without the other.
  rules[0].tiny_k = 250;
  rules[1].thin_extent = 48;
  rules[1].thin_k = 128;
  rules[2].tiles_32x32 = 70;
  rules[3].moderate_k = 5000;
  rules[4].tiles_32x64 = 300;
  rules[5].tiles_64x64 = 100;
  rules[6].short_k = 200;
  rules[7].cost_64x64 = 140;
  rules[7].cost_128x128 = 102;
  rules[8].round_from = 60;
  rules[8].round_to = 110;
  rules[9] = {90, 3000, 80, 8, 1024, 90, 1024, 70, 30, 150, 70, 120, 190, 150, 110, 120};
  for (const MatMulTuning& rule : rules) {
    const std::vector<MatMulTimes> times = TimesBy(rule);
    EXPECT_GT(RegretOf(times, 90, kPresent).total, 0) << TuningLine(rule);
    const MatMulTuning fitted = FitTuning(times, 90, kPresent);
    EXPECT_EQ(RegretOf(times, 90, fitted).total, 0) << TuningLine(rule) << TuningLine(fitted);
  }
}

TEST(FitTuning, KeepsWhatIsThereWhereNothingIsBetter) {
  EXPECT_EQ(Fitted({}, kPresent), TuningLine(kPresent));
  EXPECT_EQ(Fitted(TimesBy(kPresent), kPresent), TuningLine(kPresent));
  std::vector<MatMulTimes> ties = TimesBy(kPresent);
  for (MatMulTimes& times : ties) {
    for (auto& [name, ms] : times.ms) ms = 3;
  }
  EXPECT_EQ(Fitted(ties, kPresent), TuningLine(kPresent));
  // A gain of less than a row's noise is as good as none.
  MatMulTimes noisy = {Args(128, 128, 128), {{"tiny", 1.005}, {"stream_k_32x32", 1}}};
  EXPECT_EQ(Fitted({noisy}, kPresent), TuningLine(kPresent));
  noisy.ms["tiny"] = 1.05;
  EXPECT_NE(Fitted({noisy}, kPresent), TuningLine(kPresent));
}

// As far as the shapes ask for, and the others stay.
TEST(FitTuning, MovesToTheNearest) {
  const MatMulTimes times = {Args(128, 128, 128), {{"tiny", 2}, {"stream_k_32x32", 1}}};
  const MatMulTuning fitted = FitTuning({times}, 90, kPresent);
  EXPECT_EQ(fitted.tiny_k, 116);  // Of the values 100, 116 and 134 it is the nearest below 128.
  MatMulTuning rest = fitted;
  rest.tiny_k = kPresent.tiny_k;
  EXPECT_EQ(TuningLine(rest), TuningLine(kPresent));
}

TEST(FitTuning, IsOfTheDeviceThatWasMeasured) {
  EXPECT_EQ(FitTuning({}, 86, kPresent).compute_capability, 86);
}

TEST(FitTuning, IgnoresShapesWithoutMeasurements) {
  MatMulTuning rule = kPresent;
  rule.tiles_32x32 = 70;
  std::vector<MatMulTimes> times = TimesBy(rule);
  const std::string want = Fitted(times, kPresent);
  const TuningRegret regret = RegretOf(times, 90, kPresent);
  for (const MatMulArgs& args : ManyShapes()) times.push_back({args, {}});
  EXPECT_EQ(Fitted(times, kPresent), want);
  EXPECT_EQ(RegretOf(times, 90, kPresent).shapes, regret.shapes);
  EXPECT_EQ(RegretOf(times, 90, kPresent).total, regret.total);
  EXPECT_EQ(TuningChoices(times, 90, kPresent).size(), ManyShapes().size());
}

// tiny failed at this shape: something else is chosen, whatever that costs elsewhere.
TEST(FitTuning, NeverChoosesWhatHasNoTime) {
  std::vector<MatMulTimes> times = {
      {Args(128, 128, 128), {{"stream_k_32x32", 9}}},
      {Args(96, 96, 96), {{"tiny", 1}, {"stream_k_32x32", 1.2}}},
      {Args(112, 112, 120), {{"tiny", 1}, {"stream_k_32x32", 20}}},
  };
  EXPECT_EQ(RegretOf(times, 90, kPresent).unmeasured, 1);
  EXPECT_FALSE(TuningChoices(times, 90, kPresent)[0].chosen_ms.has_value());
  const MatMulTuning fitted = FitTuning(times, 90, kPresent);
  EXPECT_EQ(RegretOf(times, 90, fitted).unmeasured, 0);
  EXPECT_EQ(TuningChoices(times, 90, fitted)[0].chosen, "stream_k_32x32");
  // What no threshold can avoid stays as it is.
  times = {{Args(4096, 4096, 4096), {{"general_tile", 1}}}};
  EXPECT_EQ(Fitted(times, kPresent), TuningLine(kPresent));
  EXPECT_EQ(RegretOf(times, 90, kPresent).unmeasured, 1);
  EXPECT_EQ(MeanSlowdown(RegretOf(times, 90, kPresent)), 1);
}

// Times without any order.
TEST(FitTuning, NeverMakesItWorseAndIsDeterministic) {
  uint64_t state = 1;
  for (int trial = 0; trial < 3; ++trial) {
    std::vector<MatMulTimes> times = TimesBy(kPresent);
    for (MatMulTimes& problem : times) {
      for (auto& [name, ms] : problem.ms) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        ms = 1 + static_cast<double>(state >> 40);
      }
    }
    const MatMulTuning fitted = FitTuning(times, 90, kPresent);
    EXPECT_LE(RegretOf(times, 90, fitted).total, RegretOf(times, 90, kPresent).total);
    EXPECT_EQ(TuningLine(fitted), Fitted(times, kPresent));
    // There is nothing left to gain from where it ended.
    EXPECT_EQ(TuningLine(fitted), Fitted(times, fitted));
  }
}

TEST(TuningChoices, SayWhatIsChosenAndWhatIsBest) {
  const MatMulTimes times = {Args(256, 256, 256),
                             {{"tiny", 3}, {"stream_k_32x32", 2}, {"thin", 1}}};
  const std::vector<TuningChoice> choices = TuningChoices({times}, 90, kPresent);
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].chosen, "stream_k_32x32");
  EXPECT_EQ(choices[0].chosen_ms, 2);
  EXPECT_EQ(choices[0].best, "thin");
  EXPECT_EQ(choices[0].best_ms, 1);
  EXPECT_NEAR(MeanSlowdown(RegretOf({times}, 90, kPresent)), 2, 1e-12);
}

}  // namespace
}  // namespace stridewise
