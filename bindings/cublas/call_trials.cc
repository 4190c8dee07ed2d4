#include "bindings/cublas/call_trials.h"

#include <algorithm>

namespace stridewise::drop_in {
namespace {

size_t Index(Way way) { return way == Way::kOurs ? 0 : 1; }

Way Other(Way way) { return way == Way::kOurs ? Way::kCublas : Way::kOurs; }

}  // namespace

CallTrials::Turn CallTrials::Next(const CallShape& shape, Way predicted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (trials_.size() >= kMostShapes && trials_.count(shape) == 0) return {predicted, false};
  Trial& trial = trials_[shape];
  if (trial.decided) return {trial.faster, false};
  const Way way = trial.started[0] <= trial.started[1] ? Way::kOurs : Way::kCublas;
  if (trial.started[Index(way)] == kSamples) return {predicted, false};
  ++trial.started[Index(way)];
  return {way, true};
}

Way CallTrials::Known(const CallShape& shape, Way predicted) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = trials_.find(shape);
  return found != trials_.end() && found->second.decided ? found->second.faster : predicted;
}

void CallTrials::Add(const CallShape& shape, Way way, double us) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Trial& trial = trials_[shape];
  const size_t i = Index(way);
  trial.least_us[i] = trial.finished[i] == 0 ? us : std::min(trial.least_us[i], us);
  ++trial.finished[i];
  if (trial.decided || trial.finished[0] < kSamples || trial.finished[1] < kSamples) return;
  trial.decided = true;
  trial.faster = trial.least_us[0] <= trial.least_us[1] ? Way::kOurs : Way::kCublas;
}

void CallTrials::Abandon(const CallShape& shape, Way way) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Trial& trial = trials_[shape];
  trial.decided = true;
  trial.faster = Other(way);
}

}  // namespace stridewise::drop_in
