// Draws the points of the preset `random`.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_DRAW_POINTS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_DRAW_POINTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/operation.h"

namespace stridewise {

// The number of points where --count does not say.
inline constexpr int64_t kUsualCount = 100;

struct DrawnPoint {
  Point point;
  std::string family;
};

// Returns `count` different points, within the operation's bounds, of the family of that name or,
// for "all", of all families in turn. The texts are those of --count and --shape_family; empty for
// kUsualCount and "all". A point depends on the seed and its number alone: the first points of a
// longer list are those of a shorter one. `least_flops` is the text of --least_flops: fewer
// operations than that are drawn anew, too. InvalidArgument, naming the flag, for a text that is
// not allowed and for a count that the family does not have.
absl::StatusOr<std::vector<DrawnPoint>> DrawPoints(const Operation& operation,
                                                   const RandomShapes& random,
                                                   absl::string_view count,
                                                   absl::string_view shape_family, uint64_t seed,
                                                   absl::string_view least_flops = "");

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_DRAW_POINTS_H_
