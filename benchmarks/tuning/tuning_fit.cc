#include "benchmarks/tuning/tuning_fit.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "matmul/dispatch.h"

namespace stridewise {
namespace {

constexpr int kCandidates = 57;  // Four for each doubling of a range such as 1 to 16384.

// What each threshold that is moved must take off the regret's total: 1 % of one shape's time, as a
// row may be off by so much (--max_noise).
constexpr double kLeastGain = 0.01;

// Values of a threshold to try, the present one first and each once.
std::vector<int64_t> Candidates(const MatMulThreshold& threshold, int64_t present) {
  std::vector<int64_t> values = {present};
  const double ratio = static_cast<double>(threshold.most) / static_cast<double>(threshold.least);
  for (int i = 0; i < kCandidates; ++i) {
    const int64_t value = std::llround(static_cast<double>(threshold.least) *
                                       std::pow(ratio, static_cast<double>(i) / (kCandidates - 1)));
    if (value != present && value != values.back()) values.push_back(value);
  }
  return values;
}

double Distance(int64_t a, int64_t b) {
  return std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
}

// The name and time of the implementation that took least. REQUIRES: there is one.
const std::pair<const std::string, double>& Best(const MatMulTimes& times) {
  return *std::min_element(times.ms.begin(), times.ms.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

// The times by row of the dispatch table, so that a search need not compare names.
class Judge {
 public:
  Judge(absl::Span<const MatMulTimes> times, int compute_capability)
      : compute_capability_(compute_capability) {
    for (const MatMulTimes& problem : times) {
      if (problem.ms.empty()) continue;
      Shape shape = {&problem.args, {}};
      for (const MatMulDispatch& row : MatMulDispatchTable()) {
        const auto found = problem.ms.find(row.implementation);
        std::optional<double>& log_slowdown = shape.log_slowdowns.emplace_back();
        if (found == problem.ms.end()) continue;
        log_slowdown = std::log(found->second / Best(problem).second);
      }
      shapes_.push_back(std::move(shape));
    }
  }

  // Stops at the shape with which the regret, which no shape lowers, is above `enough`.
  TuningRegret operator()(const MatMulTuning& tuning,
                          std::pair<int, double> enough = {INT_MAX, 0}) const {
    TuningRegret regret;
    regret.shapes = static_cast<int>(shapes_.size());
    for (const Shape& shape : shapes_) {
      const MatMulDispatch& row =
          ChooseMatMul(*shape.args, DeviceModel{compute_capability_}, RunsOn::kDevice, tuning);
      const std::optional<double>& log_slowdown =
          shape.log_slowdowns[static_cast<size_t>(&row - MatMulDispatchTable().data())];
      regret.unmeasured += log_slowdown.has_value() ? 0 : 1;
      regret.total += log_slowdown.value_or(0);
      if (std::pair(regret.unmeasured, regret.total) > enough) break;
    }
    return regret;
  }

 private:
  struct Shape {
    const MatMulArgs* args;
    std::vector<std::optional<double>> log_slowdowns;  // Of the table's rows.
  };

  int compute_capability_;
  std::vector<Shape> shapes_;
};

// `from` with the best other values of one of these two thresholds, or of both; nothing where that
// gains too little.
std::optional<MatMulTuning> MoveTwo(const Judge& judge, const MatMulTuning& from,
                                    const MatMulThreshold& first, const MatMulThreshold& second) {
  // What is to be the least: the regret with what moves must gain, and the distance where that
  // ties.
  const auto cost = [](const TuningRegret& regret, int moved, double distance) {
    return std::tuple(regret.unmeasured, regret.total + kLeastGain * moved, distance);
  };
  std::optional<MatMulTuning> best;
  auto least = cost(judge(from), 0, 0);
  for (const int64_t a : Candidates(first, from.*first.value)) {
    for (const int64_t b : Candidates(second, from.*second.value)) {
      MatMulTuning tuning = from;
      tuning.*first.value = a;
      tuning.*second.value = b;
      const int moved = (a != from.*first.value ? 1 : 0) + (b != from.*second.value ? 1 : 0);
      const double distance = Distance(a, from.*first.value) + Distance(b, from.*second.value);
      const auto its =
          cost(judge(tuning, {std::get<0>(least), std::get<1>(least)}), moved, distance);
      if (its >= least) continue;
      best = tuning;
      least = its;
    }
  }
  return best;
}

}  // namespace

std::vector<TuningChoice> TuningChoices(absl::Span<const MatMulTimes> times, int compute_capability,
                                        const MatMulTuning& tuning) {
  std::vector<TuningChoice> choices;
  for (const MatMulTimes& problem : times) {
    if (problem.ms.empty()) continue;
    TuningChoice choice;
    choice.times = &problem;
    choice.chosen =
        ChooseMatMul(problem.args, DeviceModel{compute_capability}, RunsOn::kDevice, tuning)
            .implementation;
    const auto found = problem.ms.find(choice.chosen);
    if (found != problem.ms.end()) choice.chosen_ms = found->second;
    std::tie(choice.best, choice.best_ms) = Best(problem);
    choices.push_back(std::move(choice));
  }
  return choices;
}

double MeanSlowdown(const TuningRegret& regret) {
  const int measured = regret.shapes - regret.unmeasured;
  return measured == 0 ? 1 : std::exp(regret.total / measured);
}

TuningRegret RegretOf(absl::Span<const MatMulTimes> times, int compute_capability,
                      const MatMulTuning& tuning) {
  return Judge(times, compute_capability)(tuning);
}

MatMulTuning FitTuning(absl::Span<const MatMulTimes> times, int compute_capability,
                       const MatMulTuning& present) {
  const Judge judge(times, compute_capability);
  const absl::Span<const MatMulThreshold> thresholds = MatMulThresholds();
  MatMulTuning fitted = present;
  fitted.compute_capability = compute_capability;
  for (bool moved = true; moved;) {  // It ends: each move takes kLeastGain, or a shape, off.
    moved = false;
    for (size_t i = 0; i + 1 < thresholds.size(); ++i) {
      const std::optional<MatMulTuning> better =
          MoveTwo(judge, fitted, thresholds[i], thresholds[i + 1]);
      if (!better.has_value()) continue;
      fitted = *better;
      moved = true;
    }
  }
  return fitted;
}

}  // namespace stridewise
