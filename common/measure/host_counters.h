// Counts what host implementations do, with Linux's perf events.
//
// Names begin with "cpu.": cycles, instructions, branch_misses, l1d_misses (loads), llc_references
// (what the cache before the last missed), llc_misses, dtlb_misses (loads); and what the kernel
// itself counts: task_clock (ns), page_faults, context_switches, migrations. Virtual machines often
// have the latter alone.

#ifndef STRIDEWISE_COMMON_MEASURE_HOST_COUNTERS_H_
#define STRIDEWISE_COMMON_MEASURE_HOST_COUNTERS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/gpu/counters.h"

namespace stridewise {

// Returns whether a name of --counters is one of the host's.
bool IsHostCounter(absl::string_view name);

// Counters that were opened: of `names`, in that order.
struct HostCounters {
  std::unique_ptr<CounterSource> source;  // Null where there is none.
  std::vector<std::string> names;
  std::vector<std::string> missing;  // A line for each event that this machine does not count.
};

// Opens counters of all threads of this process. InvalidArgument names a counter that is not known;
// Unavailable says in one line that there are none at all: Linux is missing, or the permission.
absl::StatusOr<HostCounters> OpenHostCounters(absl::Span<const std::string> names);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_HOST_COUNTERS_H_
