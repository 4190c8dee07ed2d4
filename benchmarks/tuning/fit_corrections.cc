#include "benchmarks/tuning/fit_corrections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace stridewise {
namespace {

// A sample as corrections see it.
struct Residual {
  std::array<float, kMatMulFeatures> features;
  std::array<uint8_t, kMatMulFeatures> bins;
  double error;  // log(measured / predicted), which is left.
  double weight;
  unsigned leaf;
};

constexpr size_t kMaxBins = 48;

// Returns thresholds between the values of a feature, at most kMaxBins - 1, each with about the
// same weight of samples between it and the next: most samples of some kernels are of calls for
// which they are far too slow.
std::vector<float> ThresholdsOf(const std::vector<Residual>& residuals, size_t feature) {
  std::vector<std::pair<float, double>> values;  // And weights.
  double weight = 0;
  for (const Residual& residual : residuals) {
    values.emplace_back(residual.features[feature], residual.weight);
    weight += residual.weight;
  }
  std::sort(values.begin(), values.end());
  std::vector<float> thresholds;
  double before = 0;
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    before += values[i].second;
    if (values[i].first == values[i + 1].first) continue;
    const auto wanted = static_cast<double>(thresholds.size() + 1);
    if (before * kMaxBins < wanted * weight) continue;
    thresholds.push_back(0.5f * (values[i].first + values[i + 1].first));
    if (thresholds.size() + 1 == kMaxBins) break;
  }
  return thresholds;
}

// The weight and the weighted sum of errors of a part of the samples.
struct Sum {
  double weight = 0;
  double error = 0;
};

double GainOf(const Sum& sum, double damping) {
  return sum.error * sum.error / (sum.weight + damping);
}

using Thresholds = std::array<std::vector<float>, kMatMulFeatures>;

// The question that divides the leaves of the samples best.
struct Question {
  size_t feature = 0;
  size_t bin = 0;  // At least this one: the threshold is the one before it.
  double gain = -1;
};

Question BestQuestion(const std::vector<Residual>& residuals, const Thresholds& thresholds,
                      unsigned leaves, double damping) {
  Question best;
  std::vector<std::array<Sum, kMaxBins>> sums(leaves);
  for (size_t feature = 0; feature < kMatMulFeatures; ++feature) {
    if (thresholds[feature].empty()) continue;
    for (auto& of_leaf : sums) of_leaf.fill({});
    for (const Residual& residual : residuals) {
      Sum& sum = sums[residual.leaf][residual.bins[feature]];
      sum.weight += residual.weight;
      sum.error += residual.weight * residual.error;
    }
    std::vector<double> gains(thresholds[feature].size(), 0);
    for (const auto& of_leaf : sums) {
      Sum all;
      for (const Sum& sum : of_leaf) {
        all.weight += sum.weight;
        all.error += sum.error;
      }
      Sum below;
      for (size_t bin = 0; bin < gains.size(); ++bin) {
        below.weight += of_leaf[bin].weight;
        below.error += of_leaf[bin].error;
        gains[bin] += GainOf(below, damping) +
                      GainOf({all.weight - below.weight, all.error - below.error}, damping);
      }
    }
    for (size_t bin = 0; bin < gains.size(); ++bin) {
      if (gains[bin] > best.gain * (1 + 1e-9)) best = {feature, bin + 1, gains[bin]};
    }
  }
  return best;
}

}  // namespace

std::vector<MatMulCorrection> FitCorrections(const MatMulCostModel& start,
                                             absl::Span<const CostSample> samples,
                                             const CorrectionOptions& options) {
  const MatMulCosts& costs = start.costs;
  std::vector<Residual> residuals;
  for (const CostSample& sample : samples) {
    MatMulFeatures features;
    SetCallFeatures(sample.call, &features);
    SetKernelFeatures(costs, sample.work, &features);
    Residual residual = {};
    std::copy(std::begin(features), std::end(features), residual.features.begin());
    residual.error =
        std::log(sample.us / (UncorrectedUs(costs, sample.work) * CorrectionOf(start, features)));
    residual.weight = sample.weight;
    residuals.push_back(residual);
  }
  Thresholds thresholds;
  for (size_t feature = 0; feature < kMatMulFeatures; ++feature) {
    thresholds[feature] = ThresholdsOf(residuals, feature);
    for (Residual& residual : residuals) {
      const auto& limits = thresholds[feature];
      residual.bins[feature] = static_cast<uint8_t>(
          std::upper_bound(limits.begin(), limits.end(), residual.features[feature]) -
          limits.begin());
    }
  }
  std::vector<MatMulCorrection> corrections;
  for (int i = 0; i < options.count; ++i) {
    MatMulCorrection correction = {};
    for (Residual& residual : residuals) residual.leaf = 0;
    for (int question = 0; question < MatMulCorrection::kQuestions; ++question) {
      const Question best = BestQuestion(residuals, thresholds, 1u << question, options.damping);
      if (best.gain < 0) return corrections;  // All samples are alike.
      correction.features[question] = static_cast<MatMulFeature>(best.feature);
      correction.thresholds[question] = thresholds[best.feature][best.bin - 1];
      for (Residual& residual : residuals) {
        residual.leaf |= static_cast<unsigned>(residual.bins[best.feature] >= best.bin) << question;
      }
    }
    std::array<Sum, 1 << MatMulCorrection::kQuestions> sums = {};
    for (const Residual& residual : residuals) {
      sums[residual.leaf].weight += residual.weight;
      sums[residual.leaf].error += residual.weight * residual.error;
    }
    for (size_t leaf = 0; leaf < sums.size(); ++leaf) {
      const double step = options.rate * sums[leaf].error / (sums[leaf].weight + options.damping);
      correction.factors[leaf] = static_cast<float>(std::exp(step));
    }
    for (Residual& residual : residuals) {
      residual.error -= std::log(static_cast<double>(correction.factors[residual.leaf]));
    }
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
    model.least_correction = std::min(model.least_correction, correction);
    model.most_correction = std::max(model.most_correction, correction);
  }
  return model;
}

}  // namespace stridewise
