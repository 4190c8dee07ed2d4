#include "benchmarks/tuning/boost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace stridewise {
namespace {

// A sample, and what is left of its error.
struct Residual {
  const BoostSample* sample;
  std::vector<uint8_t> bins;  // Of each feature.
  double error;
  unsigned leaf;
};

// The least weight, of kernels that are far slower than the best. With 0.05 a kernel was chosen
// that takes four times as long as the best, at one of 498 products.
constexpr double kLeastWeight = 0.15;

constexpr size_t kMaxBins = 48;

// Returns thresholds between the values of a feature, at most kMaxBins - 1, each with about the
// same weight of samples between it and the next: most samples of some kernels are of calls for
// which they are far too slow.
std::vector<float> ThresholdsOf(const std::vector<Residual>& residuals, size_t feature) {
  std::vector<std::pair<float, double>> values;  // And weights.
  double weight = 0;
  for (const Residual& residual : residuals) {
    values.emplace_back(residual.sample->features[feature], residual.sample->weight);
    weight += residual.sample->weight;
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

using Thresholds = std::vector<std::vector<float>>;  // Of each feature.

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
  for (size_t feature = 0; feature < thresholds.size(); ++feature) {
    if (thresholds[feature].empty()) continue;
    for (auto& of_leaf : sums) of_leaf.fill({});
    for (const Residual& residual : residuals) {
      Sum& sum = sums[residual.leaf][residual.bins[feature]];
      sum.weight += residual.sample->weight;
      sum.error += residual.sample->weight * residual.error;
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

double WeightOf(double ratio) {
  return std::max(kLeastWeight, 1 / (ratio * ratio * ratio * ratio));
}

std::vector<FactorTable<size_t>> BoostTables(absl::Span<const BoostSample> samples,
                                             const CorrectionOptions& options) {
  using Table = FactorTable<size_t>;
  std::vector<Residual> residuals;
  for (const BoostSample& sample : samples) residuals.push_back({&sample, {}, sample.error, 0});
  Thresholds thresholds(samples.empty() ? 0 : samples[0].features.size());
  for (size_t feature = 0; feature < thresholds.size(); ++feature) {
    thresholds[feature] = ThresholdsOf(residuals, feature);
    for (Residual& residual : residuals) {
      const auto& limits = thresholds[feature];
      residual.bins.push_back(static_cast<uint8_t>(
          std::upper_bound(limits.begin(), limits.end(), residual.sample->features[feature]) -
          limits.begin()));
    }
  }
  std::vector<Table> tables;
  for (int i = 0; i < options.count; ++i) {
    Table table = {};
    for (Residual& residual : residuals) residual.leaf = 0;
    for (int question = 0; question < options.questions; ++question) {
      const Question best = BestQuestion(residuals, thresholds, 1u << question, options.damping);
      if (best.gain < 0) return tables;  // All samples are alike.
      table.features[question] = best.feature;
      table.thresholds[question] = thresholds[best.feature][best.bin - 1];
      for (Residual& residual : residuals) {
        residual.leaf |= static_cast<unsigned>(residual.bins[best.feature] >= best.bin) << question;
      }
    }
    std::array<Sum, 1 << Table::kQuestions> sums = {};
    for (const Residual& residual : residuals) {
      sums[residual.leaf].weight += residual.sample->weight;
      sums[residual.leaf].error += residual.sample->weight * residual.error;
    }
    for (size_t leaf = 0; leaf < sums.size(); ++leaf) {
      const double step = options.rate * sums[leaf].error / (sums[leaf].weight + options.damping);
      table.factors[leaf] = static_cast<float>(std::exp(step));
    }
    for (Residual& residual : residuals) {
      residual.error -= std::log(static_cast<double>(table.factors[residual.leaf]));
    }
    tables.push_back(table);
  }
  return tables;
}

}  // namespace stridewise
