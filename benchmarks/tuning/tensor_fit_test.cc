// Fits to times that are predictions, changed.

#include "benchmarks/tuning/tensor_fit.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/case_random.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/tensor_plans.h"
#include "matmul/tensor_tables.h"

namespace stridewise {
namespace {

MatMulArgs ArgsOf(int number) {
  CaseRandom random(/*seed=*/5, number);
  const auto extent = [&] { return 8 * random.Between(1, 1 << random.Between(2, 9)); };
  MatMulArgs args;
  args.m = extent();
  args.n = extent();
  args.k = extent();
  args.batch = 1;
  args.a.ld = args.k;
  args.b.ld = args.c.ld = args.n;
  args.a.type = args.b.type = args.c.type = ElementType::kBf16;
  return args;
}

// Products at which two kernels take what their plans predict without corrections, times what
// factor(args) says of tensor_split.
template <typename Factor>
std::vector<TensorProduct> ProductsWith(const Factor& factor) {
  const DeviceModel device = H200Model();
  std::vector<TensorProduct> products;
  for (int number = 0; number < 400; ++number) {
    const MatMulArgs args = ArgsOf(number);
    TensorProduct product;
    for (const char* const kernel : {"tensor_tile", "tensor_split"}) {
      const auto predictions = PredictionsOf(kernel, args, device);
      EXPECT_FALSE(predictions.empty());
      const bool changes = std::string(kernel) == "tensor_split";
      product.push_back(
          {kernel, predictions.front().us * (changes ? factor(args) : 1), predictions.front()});
    }
    products.push_back(product);
  }
  return products;
}

double MeanError(const std::vector<TensorProduct>& products, const TensorTables& tables) {
  double sum = 0;
  int count = 0;
  for (const TensorProduct& product : products) {
    for (const TensorTime& time : product) {
      sum += std::abs(std::log(time.us / CorrectedBy(tables, time.prediction)));
      ++count;
    }
  }
  return sum / count;
}

// A plan's first division is the one that it takes.
TEST(TensorPlans, PredictWithBuiltInCorrections) {
  for (const std::string& kernel : PlannedTensorKernels()) {
    const auto predictions = PredictionsOf(kernel, ArgsOf(3), H200Model());
    for (const TensorPrediction& prediction : predictions) {
      EXPECT_NEAR(CorrectedBy(BuiltInTensorTables(), prediction) / prediction.corrected, 1, 1e-6)
          << kernel;
      EXPECT_LE(predictions.front().corrected, prediction.corrected) << kernel;
    }
  }
  EXPECT_TRUE(PredictionsOf("no_kernel", ArgsOf(3), H200Model()).empty());
}

TEST(TensorFit, FindsWhatDependsOnTheCall) {
  const auto products = ProductsWith([](const MatMulArgs& args) {
    return args.k >= 1024 ? 1.5 : args.m > args.n ? 0.8 : 1.0;
  });
  CorrectionOptions options;
  options.count = 20;
  const TensorTables fitted = FitTensorTables(products, options);
  EXPECT_LT(MeanError(products, fitted), 0.02);
  EXPECT_GT(MeanError(products, BuiltInTensorTables()), 0.05);
  const std::vector<double> before = RegretsOf(products, BuiltInTensorTables());
  const std::vector<double> after = RegretsOf(products, fitted);
  ASSERT_EQ(after.size(), products.size());
  EXPECT_LE(after[after.size() * 95 / 100], before[before.size() * 95 / 100]);
}

TEST(TensorFit, KeepsTablesOfWhatWasNotMeasured) {
  const auto products = ProductsWith([](const MatMulArgs& /*args*/) { return 1.2; });
  const TensorTables fitted = FitTensorTables(products, CorrectionOptions());
  const TensorTables built_in = BuiltInTensorTables();
  EXPECT_EQ(fitted.size(), built_in.size());
  EXPECT_EQ(fitted.at(TensorPredicted::kDecode).size(),
            built_in.at(TensorPredicted::kDecode).size());
}

// What is mended for one GPU stays as it is for another whose memory is slower.
TEST(TensorFit, OnTopIsForFastMemoriesAlone) {
  constexpr double kFactor = 1.2;
  constexpr float kLeastGbps = 4000;
  const auto products = ProductsWith([](const MatMulArgs& /*args*/) { return 1.0; });
  const TensorTables built_in = BuiltInTensorTables();
  std::vector<TensorProduct> changed = products;
  for (TensorProduct& product : changed) {
    for (TensorTime& time : product) time.us = kFactor * CorrectedBy(built_in, time.prediction);
  }
  CorrectionOptions options;
  options.count = 12;
  const TensorTables fitted = FitOnTop(changed, options, kLeastGbps);
  EXPECT_EQ(fitted.at(TensorPredicted::kDecode).size(),
            built_in.at(TensorPredicted::kDecode).size());
  EXPECT_EQ(fitted.at(TensorPredicted::kSplit).size(),
            built_in.at(TensorPredicted::kSplit).size() + options.count);
  EXPECT_LT(MeanError(changed, fitted), 0.02);
  EXPECT_EQ(
      FitOnTop(changed, options, kLeastGbps, {"tensor_tile"}).at(TensorPredicted::kSplit).size(),
      built_in.at(TensorPredicted::kSplit).size());
  for (const TensorProduct& product : products) {
    for (const TensorTime& time : product) {
      TensorPrediction slower = time.prediction;
      slower.features[static_cast<size_t>(TensorFeature::kMemoryGbps)] = kLeastGbps - 1;
      EXPECT_DOUBLE_EQ(CorrectedBy(fitted, slower), CorrectedBy(built_in, slower)) << time.kernel;
    }
  }
}

// Each prediction has its case, and each table its line.
TEST(TensorFit, TextHasAllTables) {
  const TensorTables tables = BuiltInTensorTables();
  const std::string text = TextOf(tables);
  size_t lines = 0;
  for (const auto& [predicted, of_predicted] : tables) lines += of_predicted.size();
  size_t found = 0;
  for (size_t at = text.find("    {{Feature::k"); at != std::string::npos;
       at = text.find("    {{Feature::k", at + 1)) {
    ++found;
  }
  EXPECT_EQ(found, lines);
  EXPECT_NE(text.find("case TensorPredicted::kFewTf32:"), std::string::npos);
}

}  // namespace
}  // namespace stridewise
