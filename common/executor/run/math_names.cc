#include "common/executor/run/math_names.h"

#include <cstddef>

#include "absl/strings/match.h"

namespace stridewise::executor {
namespace {

// Of <math.h>, with and without f at their ends: a GPU has them as plain arithmetic. Those that
// store to a pointer are left out.
constexpr absl::string_view kMath[] = {
    "acos",  "acosh", "asin",   "asinh",     "atan",     "atan2",    "atanh", "cbrt",
    "ceil",  "cos",   "cosh",   "erf",       "erfc",     "exp",      "exp10", "exp2",
    "expm1", "fabs",  "fdim",   "floor",     "fma",      "fmax",     "fmin",  "fmod",
    "hypot", "ldexp", "llrint", "log",       "log10",    "log1p",    "log2",  "lrint",
    "pow",   "rint",  "round",  "scalbn",    "sin",      "sinh",     "sqrt",  "tan",
    "tanh",  "trunc", "tgamma", "nearbyint", "copysign", "remainder"};

}  // namespace

bool NamesMath(absl::string_view line) {
  const size_t at = line.find('@');
  const size_t end = line.find('(', at);
  if (end == absl::string_view::npos) return false;
  const absl::string_view name = line.substr(at + 1, end - at - 1);
  for (const absl::string_view math : kMath) {
    if (name == math ||
        (name.size() == math.size() + 1 && name.back() == 'f' && absl::StartsWith(name, math))) {
      return true;
    }
  }
  return false;
}

}  // namespace stridewise::executor
