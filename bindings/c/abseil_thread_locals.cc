// Replaces the two files of Abseil with thread-local variables. Debian compiles its archives for
// executables: relocations of such variables do not fit into a shared library, all others do. What
// these functions do matters to profilers of absl::Cord, which are off here, and to locks that
// wait.

#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/base/internal/sysinfo.h"
#include "absl/strings/cord.h"

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

// The payloads of an absl::Status are cords, which nothing here attaches to one. Without these four
// functions the archive would add all of absl::Cord, whose thread-local variable has to lie in the
// memory that a program sets aside at its start: a library with such a variable cannot be loaded
// later, as Python loads it ("cannot allocate memory in static TLS block").
void Cord::DestroyCordSlow() {}
void Cord::InlineRep::UnrefTree() {}
bool Cord::EqualsImpl(const Cord& /*other*/, size_t /*size_to_compare*/) const { return false; }
Cord::operator std::string() const { return {}; }

ABSL_NAMESPACE_END
}  // namespace absl
