// Which version of the source a program was built from.

#ifndef STRIDEWISE_COMMON_MEASURE_GIT_COMMIT_H_
#define STRIDEWISE_COMMON_MEASURE_GIT_COMMIT_H_

namespace stridewise {

// The commit that this program was built from, such as "g1a2b3c4d5e6f", with "-dirty" behind it
// when tracked files differed from it. "" when the source was not a git repository.
//
// A library that depends on this is relinked at every commit: let it be programs, not tests.
const char* GitCommit();

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_GIT_COMMIT_H_
