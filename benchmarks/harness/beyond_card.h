// What a sweep goes on with where a device's memory ends.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_BEYOND_CARD_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_BEYOND_CARD_H_

#include <optional>

#include "benchmarks/harness/operation.h"

namespace stridewise {

// Returns what is measured at the same point where the operands of `config` do not fit the device:
// the operation's beyond_card(). Nothing for an implementation that has its operands on the host,
// and where that entry does not take the point.
std::optional<Config> BeyondCard(const Config& config);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_BEYOND_CARD_H_
