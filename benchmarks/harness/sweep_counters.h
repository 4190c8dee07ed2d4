// Opens what --counters names: counters of the GPU, and of the host.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_COUNTERS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_COUNTERS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/gpu/counters.h"
#include "common/measure/host_counters.h"

namespace stridewise {

// Both return no source without names, and where counters cannot be read, with a line for people
// appended to `why_not`. InvalidArgument for a counter that does not exist.
absl::StatusOr<std::unique_ptr<CounterSource>> DeviceCountersFor(const SweepOptions& options,
                                                                 const Machine& machine,
                                                                 std::string* why_not);

// Appends a line for each event that the host does not count, also where it counts others.
absl::StatusOr<HostCounters> HostCountersFor(const SweepOptions& options, std::string* why_not);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_COUNTERS_H_
