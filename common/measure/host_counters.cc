#include "common/measure/host_counters.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

#if defined(__linux__)
#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace stridewise {
namespace {

constexpr absl::string_view kPrefix = "cpu.";

#if defined(__linux__)

struct Event {
  absl::string_view name;
  uint32_t type;
  uint64_t config;
};

constexpr uint64_t LoadMisses(uint64_t cache) {
  return cache | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
}

constexpr Event kEvents[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"l1d_misses", PERF_TYPE_HW_CACHE, LoadMisses(PERF_COUNT_HW_CACHE_L1D)},
    {"llc_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"llc_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"dtlb_misses", PERF_TYPE_HW_CACHE, LoadMisses(PERF_COUNT_HW_CACHE_DTLB)},
    {"task_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

absl::StatusOr<Event> FindEvent(absl::string_view name) {
  std::string allowed;
  for (const Event& event : kEvents) {
    if (name.substr(kPrefix.size()) == event.name) return event;
    absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", kPrefix, event.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is not allowed; allowed is ", allowed));
}

absl::Status WhyNot(const Event& event, int error) {
  if (error == EACCES || error == EPERM) {
    return absl::UnavailableError(
        absl::StrCat("perf events are not permitted: run as root or with CAP_PERFMON, or set "
                     "/proc/sys/kernel/perf_event_paranoid to 2 or less"));
  }
  return absl::NotFoundError(absl::StrCat("this machine does not count ", kPrefix, event.name, " (",
                                          std::strerror(error), ")"));
}

// An event of one thread, as the kernel counts it in user mode.
class OpenEvent {
 public:
  static absl::StatusOr<OpenEvent> Open(const Event& event, int thread) {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.disabled = 1;
    // Faults and switches happen in the kernel.
    attributes.exclude_kernel = event.type == PERF_TYPE_SOFTWARE ? 0 : 1;
    attributes.exclude_hv = 1;
    attributes.inherit = 1;  // By threads that this one starts.
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    OpenEvent open;
    open.file_ = static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, thread, /*cpu=*/-1, /*group=*/-1, 0UL));
    if (open.file_ < 0 && attributes.exclude_kernel == 0) {
      attributes.exclude_kernel = 1;  // What others than root may have.
      open.file_ = static_cast<int>(
          syscall(SYS_perf_event_open, &attributes, thread, /*cpu=*/-1, /*group=*/-1, 0UL));
    }
    if (open.file_ < 0) return WhyNot(event, errno);
    return open;
  }

  OpenEvent(OpenEvent&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  OpenEvent& operator=(OpenEvent&&) = delete;
  ~OpenEvent() {
    if (file_ >= 0) close(file_);
  }

  void Start() const { ioctl(file_, PERF_EVENT_IOC_ENABLE, 0); }
  void Stop() const { ioctl(file_, PERF_EVENT_IOC_DISABLE, 0); }

  // Returns the count, extrapolated to all of the time where events took turns on the processor.
  double Read() const {
    uint64_t values[3] = {};  // Count, time enabled, time running.
    if (read(file_, values, sizeof(values)) != sizeof(values) || values[2] == 0) return 0;
    return static_cast<double>(values[0]) * static_cast<double>(values[1]) /
           static_cast<double>(values[2]);
  }

 private:
  OpenEvent() = default;

  int file_ = -1;
};

std::vector<int> ThreadsOfThisProcess() {
  std::vector<int> threads;
  DIR* directory = opendir("/proc/self/task");
  if (directory == nullptr) return {0};
  while (const dirent* entry = readdir(directory)) {
    int thread = 0;
    if (absl::SimpleAtoi(entry->d_name, &thread)) threads.push_back(thread);
  }
  closedir(directory);
  return threads;
}

class Session : public CounterSession {
 public:
  static absl::StatusOr<std::unique_ptr<Session>> Begin(const std::vector<Event>& events) {
    auto session = std::make_unique<Session>();
    const std::vector<int> threads = ThreadsOfThisProcess();
    for (const Event& event : events) {
      std::vector<OpenEvent>& of_threads = session->events_.emplace_back();
      for (const int thread : threads) {
        ASSIGN_OR_RETURN(OpenEvent open, OpenEvent::Open(event, thread));
        of_threads.push_back(std::move(open));
      }
    }
    return session;
  }

  absl::Status StartPass() override {
    for (const auto& of_threads : events_) {
      for (const OpenEvent& event : of_threads) event.Start();
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> StopPass() override {
    for (const auto& of_threads : events_) {
      for (const OpenEvent& event : of_threads) event.Stop();
    }
    return true;
  }

  absl::StatusOr<std::vector<double>> Values() override {
    std::vector<double> values;
    for (const auto& of_threads : events_) {
      double sum = 0;
      for (const OpenEvent& event : of_threads) sum += event.Read();
      values.push_back(sum);
    }
    return values;
  }

 private:
  std::vector<std::vector<OpenEvent>> events_;  // Of each thread.
};

class Source : public CounterSource {
 public:
  explicit Source(std::vector<Event> events) : events_(std::move(events)) {}

  absl::StatusOr<std::unique_ptr<CounterSession>> Begin() override {
    return Session::Begin(events_);
  }

 private:
  std::vector<Event> events_;
};

#endif

}  // namespace

bool IsHostCounter(absl::string_view name) { return absl::StartsWith(name, kPrefix); }

#if defined(__linux__)

absl::StatusOr<HostCounters> OpenHostCounters(absl::Span<const std::string> names) {
  std::vector<Event> events;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const Event event, FindEvent(name));
    events.push_back(event);
  }
  HostCounters counters;
  std::vector<Event> counted;
  for (size_t i = 0; i < events.size(); ++i) {
    const absl::Status status = Session::Begin({events[i]}).status();
    if (absl::IsNotFound(status)) {
      counters.missing.emplace_back(status.message());
      continue;
    }
    RETURN_IF_ERROR(status);
    counted.push_back(events[i]);
    counters.names.push_back(names[i]);
  }
  if (!counted.empty()) counters.source = std::make_unique<Source>(std::move(counted));
  return counters;
}

#else

absl::StatusOr<HostCounters> OpenHostCounters(absl::Span<const std::string> /*names*/) {
  return absl::UnavailableError("perf events are Linux's");
}

#endif

}  // namespace stridewise
