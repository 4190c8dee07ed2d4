// Runs pieces of device work for seconds on end, where power and not the work sets the clock, and
// says what each took: time, energy and clock.
//
// The contestants take turns in slices, the last of a round first in the next, so that all of them
// have the same temperature. Within a slice the device never waits for the host: a batch of runs is
// queued while the one before runs.

#ifndef STRIDEWISE_COMMON_MEASURE_SUSTAINED_H_
#define STRIDEWISE_COMMON_MEASURE_SUSTAINED_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/clock.h"
#include "common/gpu/nvml.h"

namespace stridewise {

// Queues the work once.
using SustainedRun = std::function<absl::Status()>;

// Where the work is queued.
struct SustainedQueue {
  // Marks what has been queued, under 0 or 1, and waits until all before that mark is done.
  std::function<absl::Status(int mark)> mark;
  std::function<absl::Status(int mark)> wait;
};

struct SustainedOptions {
  double seconds = 10;                // Of each contestant.
  double slice_seconds = 2;           // At least this long; the energy counter needs that.
  std::function<bool()> interrupted;  // May be empty.
};

// What one contestant took.
struct Sustained {
  int64_t runs = 0;
  double seconds = 0;
  std::optional<double> joules;        // Empty where the device does not count them.
  std::optional<double> sm_clock_mhz;  // The mean while it ran.
  DeviceState state;                   // The last one while it ran.
};

// Returns an element for each contestant. Cancelled once `interrupted` returns true; errors of
// runs, marks and waits as they are. REQUIRES: seconds and slice_seconds above 0.
absl::StatusOr<std::vector<Sustained>> RunSustained(absl::Span<const SustainedRun> contestants,
                                                    const SustainedQueue& queue,
                                                    const SustainedOptions& options,
                                                    const Clock& clock, const Nvml& nvml);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_SUSTAINED_H_
