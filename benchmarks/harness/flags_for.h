// The way back from a configuration to the flags of a command.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_FLAGS_FOR_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_FLAGS_FOR_H_

#include <string>
#include <vector>

#include "benchmarks/harness/operation.h"

namespace stridewise {

// Returns the flags that make a plan of this configuration alone.
std::vector<std::string> FlagsFor(const Config& config);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_FLAGS_FOR_H_
