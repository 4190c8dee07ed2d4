// The flags of `sustained`.

#ifndef STRIDEWISE_BENCHMARKS_CONTEST_SETTINGS_H_
#define STRIDEWISE_BENCHMARKS_CONTEST_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/harness/operation.h"
#include "common/measure/sustained.h"

namespace stridewise {

// What the command line says.
struct SustainedSettings {
  const Operation* operation = nullptr;
  std::vector<const Implementation*> implementations;
  size_t peer = 0;  // An index of them.
  std::vector<std::vector<int64_t>> shapes;
  std::string type;
  uint64_t seed = 0;  // Of the operands.
  std::string csv;    // Empty for none.
  SustainedOptions options;
};

// Returns InvalidArgument, with a line that names the flag, its value and what is allowed.
absl::StatusOr<SustainedSettings> ReadSustainedFlags();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_CONTEST_SETTINGS_H_
