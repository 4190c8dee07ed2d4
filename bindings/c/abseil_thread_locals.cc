// Replaces the two files of Abseil with thread-local variables. Debian compiles its archives for
// executables: relocations of such variables do not fit into a shared library, all others do. What
// these functions do matters to profilers of absl::Cord, which are off here, and to locks that
// wait.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <thread>

#include "absl/base/internal/sysinfo.h"
#include "absl/strings/internal/cordz_functions.h"

namespace absl {
ABSL_NAMESPACE_BEGIN
namespace base_internal {

double NominalCPUFrequency() { return 1; }  // "Unknown."

int NumCPUs() {
  static const int number = static_cast<int>(std::thread::hardware_concurrency());
  return number;
}

pid_t GetTID() { return static_cast<pid_t>(syscall(SYS_gettid)); }

pid_t GetCachedTID() {
  static thread_local const pid_t id = GetTID();
  return id;
}

}  // namespace base_internal

namespace cord_internal {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

thread_local int64_t cordz_next_sample = kNever;

int32_t get_cordz_mean_interval() { return 0; }
void set_cordz_mean_interval(int32_t /*mean_interval*/) {}
bool cordz_should_profile_slow() {
  cordz_next_sample = kNever;
  return false;
}
void cordz_set_next_sample_for_testing(int64_t next_sample) { cordz_next_sample = next_sample; }

}  // namespace cord_internal
ABSL_NAMESPACE_END
}  // namespace absl
