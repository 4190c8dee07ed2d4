// How much memory of the host a process may still take.

#ifndef STRIDEWISE_COMMON_BASE_AVAILABLE_MEMORY_H_
#define STRIDEWISE_COMMON_BASE_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <string>

namespace stridewise {

// Returns the bytes that are available without swapping: those of the machine, or what the
// process's control group (a container's or a batch job's; version 1 or 2) has left where that is
// less, since a process that takes more is killed without a word. Files that are only cached count
// as available. The largest number where Linux does not tell. `root` is another folder than / in
// tests.
int64_t AvailableHostBytes(const std::string& root = "");

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_AVAILABLE_MEMORY_H_
