// What a program says of a flag that it refuses: one line that names the flag, its value and what
// is allowed, of the same form for every flag of every program.

#ifndef STRIDEWISE_COMMON_BASE_REFUSED_FLAGS_H_
#define STRIDEWISE_COMMON_BASE_REFUSED_FLAGS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace stridewise {

// Returns InvalidArgument, "--rounds: '0' is not allowed; allowed is 1 to 1000". The flag is as it
// is written, with its dashes; what does not print in the value is escaped.
absl::Status RefuseValue(absl::string_view flag, absl::string_view value,
                         absl::string_view allowed);

// Returns InvalidArgument for a flag that nothing would use, whatever its value is:
// "--count: '5' is not allowed without --preset=random", where the end is `why`.
absl::Status RefuseFlag(absl::string_view flag, absl::string_view value, absl::string_view why);

// Returns the status of what a flag asked for, such as a file that cannot be written, with the flag
// before its message. OK stays OK.
absl::Status OfFlag(absl::string_view flag, const absl::Status& status);

// Refuses a number that is not within the limits, and NaN.
absl::Status CheckRange(absl::string_view flag, double value, double lowest, double highest);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_REFUSED_FLAGS_H_
