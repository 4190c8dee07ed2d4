// Draws what the lanes of a warp touch, request by request: addresses, sectors and banks.

#ifndef STRIDEWISE_COMMON_EXECUTOR_ACCESS_PICTURE_H_
#define STRIDEWISE_COMMON_EXECUTOR_ACCESS_PICTURE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/executor/executor.h"

namespace stridewise::executor {

// Returns one self-contained HTML page with the recorded requests of the launches
// (ExecutorOptions::record_block). The reader chooses warp and source line and steps through the
// requests in program order. A request to global memory is drawn as the sectors that it moves, with
// the bytes that no lane asked for; one to shared memory as its wavefronts through the 32 banks.
// Launches without a record are left out. `title` names kernel and shape.
//
// Looks for the sources as ReadSource() of source_view.h does; a line whose source is not found is
// shown without its text. Starts a process for the symbolizer.
std::string AccessPictureHtml(absl::string_view title, const std::vector<LaunchReport>& launches);

// Writes the page to a file. Returns FailedPrecondition where no launch has a record, and
// InvalidArgument, naming the path, where it cannot be written.
absl::Status WriteAccessPicture(const std::string& path, absl::string_view title,
                                const std::vector<LaunchReport>& launches);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_ACCESS_PICTURE_H_
