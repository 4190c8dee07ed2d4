// Times each phase of a computation on a device separately.
//
// Context creation, allocation, copies and the first launch differ from a steady kernel by orders
// of magnitude, so each has its own entry. kTotal is what a caller waits for end to end: it is
// timed around the others and is not their sum. Times are milliseconds of the given clock. A phase
// that ends asynchronously must be waited for inside the function that is timed.

#ifndef STRIDEWISE_COMMON_MEASURE_PHASE_TIMER_H_
#define STRIDEWISE_COMMON_MEASURE_PHASE_TIMER_H_

#include <array>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/base/clock.h"

namespace stridewise {

enum class Phase { kInit, kAlloc, kH2d, kFirstLaunch, kKernel, kD2h, kFree, kTotal };

inline constexpr int kPhaseCount = static_cast<int>(Phase::kTotal) + 1;

// One pass through the phases.
class PhaseTimer {
 public:
  // `clock` must outlive the timer.
  explicit PhaseTimer(const Clock* clock) : clock_(clock) {}

  // Runs `fn` and returns its status. If that is OK, adds the elapsed time to the phase, which may
  // consist of several calls; calls may also be nested. A failed call adds no time.
  absl::Status Time(Phase phase, absl::FunctionRef<absl::Status()> fn);

  // Adds time that was measured otherwise, with CUDA events for example.
  void Add(Phase phase, double ms);

  // Returns the phase's time; nullopt, never 0, if it was not timed.
  std::optional<double> Ms(Phase phase) const;

 private:
  const Clock* clock_;
  std::array<std::optional<double>, kPhaseCount> ms_;
};

// Several passes, and each phase's median over those in which it was timed.
class PhaseMedians {
 public:
  void Add(const PhaseTimer& pass);
  std::optional<double> Ms(Phase phase) const;

 private:
  std::array<std::vector<double>, kPhaseCount> ms_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_PHASE_TIMER_H_
