// Reads hardware counters of device work in this process, without a profiler around it.
//
// The counters have the names that Nsight Compute has for them, with how the parts of the GPU are
// combined: dram__bytes_read.sum, sm__throughput.avg.pct_of_peak_sustained_elapsed. A GPU counts
// only a few at a time, so that the work is run once for each pass.

#ifndef STRIDEWISE_COMMON_GPU_COUNTERS_H_
#define STRIDEWISE_COMMON_GPU_COUNTERS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace stridewise {

// How a user gets permission to read counters.
inline constexpr absl::string_view kCounterPermission =
    "run as root or with CAP_SYS_ADMIN, or load the driver with `options nvidia "
    "NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d and reboot";

// The work whose counters are read.
struct CountedWork {
  std::function<absl::Status()> prepare;  // Before each pass, not counted. Waits for the device.
  std::function<absl::Status()> run;      // Waits for the device.
};

// A reading of some counters. The profiler is on while it exists: the work is not to be timed.
class CounterSession {
 public:
  virtual ~CounterSession() = default;

  // Starts to count.
  virtual absl::Status StartPass() = 0;

  // Stops to count and returns whether this was the last pass.
  virtual absl::StatusOr<bool> StopPass() = 0;

  // Returns the values in the order of the names. REQUIRES: all passes were made.
  virtual absl::StatusOr<std::vector<double>> Values() = 0;
};

class CounterSource {
 public:
  virtual ~CounterSource() = default;

  // Turns the profiler on. One session at a time.
  virtual absl::StatusOr<std::unique_ptr<CounterSession>> Begin() = 0;
};

// Returns the names of a comma list, each once. InvalidArgument, naming `flag`, for a name that is
// empty or has other characters than letters, digits, '_' and '.'.
absl::StatusOr<std::vector<std::string>> ParseCounterNames(absl::string_view flag,
                                                           absl::string_view text);

// Opens the counters of the current device, the one with this number. InvalidArgument names a
// counter that the GPU does not have; Unavailable says in one line what is missing: a CUDA toolkit
// or its CUPTI when the program was built, the library now, or the permission.
absl::StatusOr<std::unique_ptr<CounterSource>> OpenCounters(absl::Span<const std::string> names,
                                                            int device);

// Runs the work once for each pass and returns the values in the order of the names. Returns the
// errors of the work and of the source.
absl::StatusOr<std::vector<double>> ReadCounters(CounterSource& source, const CountedWork& work);

// Returns the cell of a row: name=value with ';' between them, without those that are not finite.
std::string CountersText(absl::Span<const std::string> names, absl::Span<const double> values);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_COUNTERS_H_
