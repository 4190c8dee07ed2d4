#include "common/executor/run/simt_home.h"

#include <limits.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stridewise::executor {

absl::StatusOr<std::string> FindSimtHome() {
  std::vector<std::string> places;
  if (const char* home = std::getenv("STRIDEWISE_SIMT_HOME")) places.emplace_back(home);
  // In a test the runfiles beside the program may be those of an earlier build.
  for (const char* variable : {"RUNFILES_DIR", "TEST_SRCDIR"}) {
    if (const char* runfiles = std::getenv(variable)) {
      places.push_back(absl::StrCat(runfiles, "/stridewise"));
    }
  }
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length > 0) {
    const std::string program(path, static_cast<size_t>(length));
    const std::string folder = program.substr(0, program.rfind('/'));
    places.push_back(folder + "/../share/stridewise/simt");
    places.push_back(program + ".runfiles/stridewise");
  }
  places.emplace_back(".");
  for (const std::string& place : places) {
    char resolved[PATH_MAX];
    if (access(absl::StrCat(place, kExecutorFolder, "run/libsimt_runtime.a").c_str(), R_OK) == 0 &&
        realpath(place.c_str(), resolved) != nullptr) {
      return std::string(resolved);
    }
  }
  return absl::NotFoundError(absl::StrCat(
      "no libsimt_runtime.a under ", absl::StrJoin(places, ", "), "; set STRIDEWISE_SIMT_HOME"));
}

}  // namespace stridewise::executor
