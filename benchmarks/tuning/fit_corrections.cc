#include "benchmarks/tuning/fit_corrections.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

namespace stridewise {
namespace {

// Limits a fitted factor to what a tuning file may say: a kernel for one row takes hundreds of
// times as long as predicted where there are thousands of rows.
double Allowed(double factor) { return std::clamp(factor, kLeastCorrection, kMostCorrection); }

}  // namespace

std::vector<MatMulCorrection> FitCorrections(const MatMulCostModel& start,
                                             absl::Span<const CostSample> samples,
                                             const CorrectionOptions& options) {
  std::vector<BoostSample> boosted;
  for (const CostSample& sample : samples) {
    MatMulFeatures features;
    SetCallFeatures(sample.call, &features);
    SetKernelFeatures(start.costs, sample.work, &features);
    const double error = std::log(
        sample.us / (UncorrectedUs(start.costs, sample.work) * CorrectionOf(start, features)));
    boosted.push_back({{std::begin(features), std::end(features)}, error, sample.weight});
  }
  std::vector<MatMulCorrection> corrections;
  for (const FactorTable<size_t>& table : BoostTables(boosted, options)) {
    MatMulCorrection correction = {};
    for (int i = 0; i < MatMulCorrection::kQuestions; ++i) {
      correction.features[i] = static_cast<MatMulFeature>(table.features[i]);
    }
    std::copy(std::begin(table.thresholds), std::end(table.thresholds), correction.thresholds);
    std::transform(std::begin(table.factors), std::end(table.factors), correction.factors,
                   [](float factor) { return static_cast<float>(Allowed(factor)); });
    corrections.push_back(correction);
  }
  return corrections;
}

MatMulCostModel FitCostModel(absl::Span<const CostSample> samples, const CorrectionOptions& options,
                             const MatMulCostModel* start) {
  MatMulCostModel model;
  if (start != nullptr) {
    model = *start;
  } else {
    model.costs = FitCosts(samples);
  }
  const std::vector<MatMulCorrection> more = FitCorrections(model, samples, options);
  model.corrections.insert(model.corrections.end(), more.begin(), more.end());
  constexpr double kWide = 1e6;
  MatMulCostModel unlimited = model;
  unlimited.least_correction = 1 / kWide;
  unlimited.most_correction = kWide;
  for (const CostSample& sample : samples) {
    MatMulFeatures features;
    SetCallFeatures(sample.call, &features);
    SetKernelFeatures(model.costs, sample.work, &features);
    const double correction = CorrectionOf(unlimited, features);
    model.least_correction = std::min(model.least_correction, Allowed(correction));
    model.most_correction = std::max(model.most_correction, Allowed(correction));
  }
  return model;
}

}  // namespace stridewise
