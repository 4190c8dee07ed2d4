#include "common/measure/phase_timer.h"

#include "common/base/status_macros.h"
#include "common/measure/statistics.h"

namespace stridewise {
namespace {

size_t Index(Phase phase) { return static_cast<size_t>(phase); }

}  // namespace

absl::Status PhaseTimer::Time(Phase phase, absl::FunctionRef<absl::Status()> fn) {
  const double start = clock_->Now();
  RETURN_IF_ERROR(fn());
  Add(phase, (clock_->Now() - start) * 1e3);
  return absl::OkStatus();
}

void PhaseTimer::Add(Phase phase, double ms) {
  std::optional<double>& sum = ms_[Index(phase)];
  sum = sum.value_or(0) + ms;
}

std::optional<double> PhaseTimer::Ms(Phase phase) const { return ms_[Index(phase)]; }

void PhaseMedians::Add(const PhaseTimer& pass) {
  for (int i = 0; i < kPhaseCount; ++i) {
    const std::optional<double> ms = pass.Ms(static_cast<Phase>(i));
    if (ms.has_value()) ms_[i].push_back(*ms);
  }
}

std::optional<double> PhaseMedians::Ms(Phase phase) const {
  const std::vector<double>& passes = ms_[Index(phase)];
  if (passes.empty()) return std::nullopt;
  return Median(passes);
}

}  // namespace stridewise
