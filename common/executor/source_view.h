// Shows a kernel's source with the memory behaviour of each line beside it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SOURCE_VIEW_H_
#define STRIDEWISE_COMMON_EXECUTOR_SOURCE_VIEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/executor/profile.h"
#include "common/executor/trace.h"

namespace stridewise::executor {

// Returns "global load", "shared store" and so on.
absl::string_view KindName(EventKind kind);

// The counters of one line for one kind of access, summed over its sites: an unrolled loop has many
// sites on one line.
struct LineCounters {
  std::string file;
  int line = 0;
  EventKind kind;
  MemoryCounters counters;
};

// Returns the counters by file, line and kind. Calls the symbolizer once.
std::vector<LineCounters> CountersByLine(const Profile& profile);

// The name and the text of a source file.
struct SourceText {
  std::string file;
  std::string text;
};

// Finds `file` (relative to the workspace) under `root` or, where that is empty, under the
// workspace of `bazel run`, the program's runfiles and the working directory. NotFound names them.
absl::StatusOr<SourceText> ReadSource(absl::string_view file, absl::string_view root);

// Returns the whole source with figures to the left of each line that accesses memory: kind,
// requests, sectors and efficiency (global), wavefronts and wavefronts per request (shared).
// `title` names kernel, shape and block.
std::string SourceViewText(absl::string_view title, const SourceText& source,
                           const std::vector<LineCounters>& lines);

// Returns the same as one self-contained HTML page, for light and dark screens and for paper. Lines
// that waste most are shaded most.
std::string SourceViewHtml(absl::string_view title, const SourceText& source,
                           const std::vector<LineCounters>& lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_SOURCE_VIEW_H_
