// Fits to times that are made of known constants.

#include "benchmarks/tuning/fit_costs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/tuning/fit_corrections.h"
#include "common/base/case_random.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/dispatch.h"
#include "matmul/tuning.h"

namespace stridewise {
namespace {

constexpr MatMulTile kTile = {64, 64, 32, 2, 6};
constexpr DeviceModel kH200 = H200Model();

// Samples of a kernel with these constants, whose times `change` may alter.
class Samples {
 public:
  template <typename Change>
  Samples(const MatMulCosts& costs, int count, Change change) {
    for (int number = 0; number < count; ++number) {
      CaseRandom random(/*seed=*/5, number);
      const auto extent = [&] { return random.Between(1, 1 << random.Between(2, 12)); };
      MatMulArgs args;
      args.m = extent();
      args.n = extent();
      args.k = extent();
      args.a.ld = args.k;
      args.b.ld = args.c.ld = args.n;
      args.batch = random.Between(1, 3) == 1 ? random.Between(1, 200) : 1;
      args.workspace_bytes = random.Between(0, 1) == 0 ? 0 : kAnyWorkspace;
      kept_.push_back(args);
      const MatMulCall call(kept_.back(), kH200);
      const MatMulWork work = TileWork(call, kTile);
      samples_.push_back({call, work, change(args, UncorrectedUs(costs, work)), 1});
    }
  }
  Samples(const MatMulCosts& costs, int count)
      : Samples(costs, count, [](const MatMulArgs&, double us) { return us; }) {}

  const std::vector<CostSample>& get() const { return samples_; }

 private:
  std::deque<MatMulArgs> kept_;
  std::vector<CostSample> samples_;
};

struct Errors {
  double worst = 0;
  double sum = 0;
};

Errors ErrorsOf(const MatMulCostModel& model, const std::vector<CostSample>& samples) {
  Errors errors;
  for (const CostSample& sample : samples) {
    MatMulFeatures features;
    SetCallFeatures(sample.call, &features);
    SetKernelFeatures(model.costs, sample.work, &features);
    const double us = UncorrectedUs(model.costs, sample.work) * CorrectionOf(model, features);
    const double error = std::abs(std::log(us / sample.us));
    errors.worst = std::max(errors.worst, error);
    errors.sum += error;
  }
  return errors;
}

double WorstError(const MatMulCostModel& model, const std::vector<CostSample>& samples) {
  return ErrorsOf(model, samples).worst;
}

double MeanError(const MatMulCostModel& model, const std::vector<CostSample>& samples) {
  return ErrorsOf(model, samples).sum / static_cast<double>(samples.size());
}

MatMulCosts Known() {
  MatMulCosts costs;
  costs.fixed = 2;
  costs.launches = 1.5;
  costs.steps = 0.3;
  costs.block_steps = 0.5;
  costs.fixup_mb = 0.4;
  costs.dram_mb = 0.3;
  return costs;
}

TEST(FitCostsTest, FindsKnownConstants) {
  const Samples samples(Known(), 2000);
  const MatMulCosts fitted = FitCosts(samples.get());
  EXPECT_LT(WorstError({fitted, 1, 1, {}}, samples.get()), 0.01);
  EXPECT_NEAR(fitted.dram_mb, 0.3, 0.01);
  EXPECT_NEAR(fitted.block_steps, 0.5, 0.02);
}

TEST(FitCostsTest, ConstantsAreNeverNegative) {
  // Times that fall with the number of steps.
  const Samples samples(Known(), 500, [](const MatMulArgs& args, double) {
    return 10.0 / (1 + std::log2(static_cast<double>(args.k)));
  });
  const MatMulCosts fitted = FitCosts(samples.get());
  for (const MatMulCostField& field : kMatMulCostFields) {
    EXPECT_GE(fitted.*field.cost, 0) << field.name;
    EXPECT_TRUE(std::isfinite(fitted.*field.cost)) << field.name;
  }
}

TEST(FitCostModelTest, CorrectsWhatTheCountsDoNotKnow) {
  // Twice the time where k is large.
  const auto change = [](const MatMulArgs& args, double us) { return args.k >= 256 ? 2 * us : us; };
  const Samples samples(Known(), 2000, change);
  const double without = MeanError({FitCosts(samples.get()), 1, 1, {}}, samples.get());
  const MatMulCostModel model = FitCostModel(samples.get(), {});
  EXPECT_GT(without, 0.05);
  EXPECT_LT(MeanError(model, samples.get()), without / 2);
  EXPECT_LT(model.least_correction, 1);
  EXPECT_GT(model.most_correction, 1);
}

TEST(FitCostModelTest, GoesOnFromAModel) {
  const Samples samples(Known(), 600, [](const MatMulArgs& args, double us) {
    return us * (args.k >= 256 ? 2 : 1) * (args.m >= 100 ? 1.5 : 1);
  });
  CorrectionOptions few;
  few.count = 2;
  const MatMulCostModel start = FitCostModel(samples.get(), few);
  const MatMulCostModel model = FitCostModel(samples.get(), few, &start);
  EXPECT_EQ(model.costs.steps, start.costs.steps);
  EXPECT_EQ(model.corrections.size(), 4u);
  EXPECT_EQ(model.corrections[0].thresholds[0], start.corrections[0].thresholds[0]);
  EXPECT_LT(MeanError(model, samples.get()), MeanError(start, samples.get()));
}

TEST(FitCostModelTest, IsWhatATuningFileMaySay) {
  const Samples as_known(Known(), 300);
  const MatMulCostModel start = FitCostModel(as_known.get(), {});
  const auto change = [](const MatMulArgs& args, double us) {
    return us * (args.k >= 256 ? 1e4 : args.k >= 16 ? 1e-4 : 1);
  };
  const Samples samples(Known(), 300, change);
  MatMulTuning tuning = {"a GPU", 90, 132, 4814, {}};
  tuning.kernels.push_back({"tiny", FitCostModel(samples.get(), {}, &start)});
  const absl::StatusOr<MatMulTuning> read = ParseTuning(TuningText(tuning));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->kernels[0].model.least_correction, kLeastCorrection);
  EXPECT_EQ(read->kernels[0].model.most_correction, kMostCorrection);
}

TEST(FitCostModelTest, TheSameSamplesGiveTheSameModel) {
  const Samples samples(Known(), 300, [](const MatMulArgs& args, double us) {
    return us * (1 + 0.1 * static_cast<double>(args.m % 7));
  });
  const MatMulCostModel x = FitCostModel(samples.get(), {});
  const MatMulCostModel y = FitCostModel(samples.get(), {});
  ASSERT_EQ(x.corrections.size(), y.corrections.size());
  EXPECT_EQ(WorstError(x, samples.get()), WorstError(y, samples.get()));
}

TEST(FitCostModelTest, OneSampleIsEnoughToReturn) {
  const Samples samples(Known(), 1);
  const MatMulCostModel model = FitCostModel(samples.get(), {});
  EXPECT_LT(WorstError(model, samples.get()), 0.01);
}

}  // namespace
}  // namespace stridewise
