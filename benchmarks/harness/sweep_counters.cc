#include "benchmarks/harness/sweep_counters.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace stridewise {

absl::StatusOr<std::unique_ptr<CounterSource>> DeviceCountersFor(const SweepOptions& options,
                                                                 const Machine& machine,
                                                                 std::string* why_not) {
  if (options.counters.empty()) return nullptr;
  absl::Status status = machine.gpu_status();
  if (status.ok()) {
    absl::StatusOr<std::unique_ptr<CounterSource>> source =
        OpenCounters(options.counters, options.device);
    if (source.ok()) return source;
    status = source.status();
  }
  if (absl::IsInvalidArgument(status)) {
    return absl::InvalidArgumentError(absl::StrCat("--counters: ", status.message()));
  }
  absl::StrAppend(why_not, "--counters: not read, ", status.message(), "\n");
  return nullptr;
}

absl::StatusOr<HostCounters> HostCountersFor(const SweepOptions& options, std::string* why_not) {
  if (options.host_counters.empty()) return HostCounters();
  absl::StatusOr<HostCounters> counters = OpenHostCounters(options.host_counters);
  if (absl::IsInvalidArgument(counters.status())) {
    return absl::InvalidArgumentError(absl::StrCat("--counters: ", counters.status().message()));
  }
  const auto tell = [&](absl::string_view line) {
    absl::StrAppend(why_not, "--counters: not read, ", line, "\n");
  };
  if (!counters.ok()) {
    tell(counters.status().message());
    return HostCounters();
  }
  for (const std::string& line : counters->missing) tell(line);
  return counters;
}

}  // namespace stridewise
