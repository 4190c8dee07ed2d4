// A kernel's source with what each line does to memory beside it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SOURCE_VIEW_H_
#define STRIDEWISE_COMMON_EXECUTOR_SOURCE_VIEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/executor/profile.h"

namespace stridewise::executor {

// What one line does to one space in one direction, all its sites together: an unrolled loop is
// many sites and one line.
struct LineCounters {
  std::string file;
  int line = 0;
  EventKind kind;
  MemoryCounters counters;
};

// By file, line and kind. One call of the symbolizer.
std::vector<LineCounters> CountersByLine(const Profile& profile);

// A source file as text, and where it was looked for.
struct SourceText {
  std::string file;
  std::string text;
};

// Finds `file` (relative to the workspace) under `root` or, where that is empty, under the
// workspace of `bazel run`, the program's runfiles and the working directory. NotFound names them.
absl::StatusOr<SourceText> ReadSource(absl::string_view file, absl::string_view root);

// The whole source, a column of figures to the left of each line that touches memory: kind,
// requests, sectors and efficiency (global), wavefronts and wavefronts a request (shared).
// `title` says which kernel, shape and block it was.
std::string SourceViewText(absl::string_view title, const SourceText& source,
                           const std::vector<LineCounters>& lines);

// The same as one self-contained HTML page, readable in light and dark and on paper. Lines that
// waste most are shaded most.
std::string SourceViewHtml(absl::string_view title, const SourceText& source,
                           const std::vector<LineCounters>& lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_SOURCE_VIEW_H_
