// What --list shows.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_LISTING_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_LISTING_H_

#include <string>

#include "absl/types/span.h"
#include "benchmarks/harness/operation.h"

namespace stridewise {

// Returns all that a sweep's flags can name: implementations, presets, families of random shapes
// and peers, a line each. `on_gpus` is what --gpus measures, null where there is no such flag.
std::string ListText(const Operation& operation, const Operation* on_gpus);

// Returns a line for each configuration of a plan: the flags that select it alone.
std::string PlanText(absl::Span<const Config> plan);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_LISTING_H_
