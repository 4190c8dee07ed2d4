#include "common/base/available_memory.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace stridewise {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// The files of a version of control groups.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* cached;  // In memory.stat: of files, that nobody has used for a while.
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file"};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file"};

// Reads the file's first number. Returns false where there is none, as in "max".
bool ReadNumber(const std::string& path, int64_t* number) {
  std::ifstream file(path);
  return static_cast<bool>(file >> *number);
}

// Returns the number behind a word; 0 without it.
int64_t NumberBehind(const std::string& path, const std::string& wanted) {
  std::ifstream file(path);
  std::string word;
  int64_t number = 0;
  while (file >> word) {
    if (word == wanted && file >> number) return number;
  }
  return 0;
}

// Returns the least that is left in a group and those that it is in, up to `top`.
int64_t LeftInGroups(const std::string& top, std::string group, const GroupFiles& files) {
  int64_t least = kNoLimit;
  while (true) {
    const std::string folder = absl::StrCat(top, group, "/");
    int64_t limit = 0, used = 0;
    if (ReadNumber(folder + files.limit, &limit) && ReadNumber(folder + files.used, &used)) {
      const int64_t cached = NumberBehind(folder + "memory.stat", files.cached);
      least = std::min(least, std::max<int64_t>(limit - used + cached, 0));
    }
    if (group.empty()) return least;
    group.resize(std::min(group.rfind('/'), group.size() - 1));
  }
}

int64_t LeftInGroupsOfProcess(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");  // NUMBER:CONTROLLERS:/GROUP, or 0::/GROUP
  std::string line;
  int64_t least = kNoLimit;
  while (std::getline(groups, line)) {
    const std::pair<std::string, std::string> behind =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(behind.second, absl::MaxSplits(':', 1));
    std::string group = parts.second == "/" ? "" : parts.second;
    if (!group.empty() && group[0] != '/') continue;
    if (parts.first.empty()) {
      least = std::min(least, LeftInGroups(root + "/sys/fs/cgroup", group, kVersion2));
    } else if (parts.first == "memory") {
      least = std::min(least, LeftInGroups(root + "/sys/fs/cgroup/memory", group, kVersion1));
    }
  }
  return least;
}

}  // namespace

int64_t AvailableHostBytes(const std::string& root) {
  const int64_t kibibytes = NumberBehind(root + "/proc/meminfo", "MemAvailable:");
  const int64_t of_machine = kibibytes > 0 ? kibibytes * 1024 : kNoLimit;
  return std::min(of_machine, LeftInGroupsOfProcess(root));
}

}  // namespace stridewise
