// The version of the source that a program was built from.

#ifndef STRIDEWISE_COMMON_MEASURE_GIT_COMMIT_H_
#define STRIDEWISE_COMMON_MEASURE_GIT_COMMIT_H_

namespace stridewise {

// Returns the commit that this program was built from, such as "g1a2b3c4d5e6f", with "-dirty"
// appended when tracked files differed from it, or "" when the source was not a git repository.
//
// Whatever depends on this is relinked at every commit: programs may, tests should not.
const char* GitCommit();

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_GIT_COMMIT_H_
