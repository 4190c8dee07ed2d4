#include "benchmarks/harness/draw_points.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/random_shapes.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

constexpr int64_t kMaxCount = 100000;

// Attempts at one point. Families keep half of their draws or more, so that this many find nothing
// new only where few shapes are left.
constexpr int kMaxAttempts = 10000;

absl::StatusOr<int64_t> ParseCount(absl::string_view text) {
  int64_t count = 0;
  if (text.empty()) return kUsualCount;
  if (absl::SimpleAtoi(text, &count) && count >= 1 && count <= kMaxCount) return count;
  return RefuseValue("--count", text, absl::StrCat("1 to ", kMaxCount));
}

// Returns the families in the order in which they take turns.
absl::StatusOr<std::vector<const ShapeFamily*>> TurnsOf(const RandomShapes& random,
                                                        absl::string_view name) {
  std::vector<const ShapeFamily*> turns;
  std::vector<absl::string_view> names;
  for (const ShapeFamily& family : random.families) {
    names.emplace_back(family.name);
    const bool all = name.empty() || name == "all";
    if (all || name == family.name) turns.insert(turns.end(), all ? family.weight : 1, &family);
  }
  if (!turns.empty()) return turns;
  return RefuseValue("--shape_family", name, absl::StrCat(absl::StrJoin(names, ", "), " and all"));
}

absl::StatusOr<double> ParseLeastFlops(absl::string_view text, const Work& bounds_least,
                                       const Work& bounds_most) {
  double least = 0;
  if (text.empty()) return bounds_least.flops;
  if (bounds_most.flops == 0) {
    return RefuseFlag("--least_flops", text, "where nothing is computed");
  }
  if (absl::SimpleAtod(text, &least) && least >= bounds_least.flops && least < bounds_most.flops) {
    return least;
  }
  return RefuseValue("--least_flops", text,
                     absl::StrCat(bounds_least.flops, " and more, below ", bounds_most.flops));
}

bool IsWithinBounds(const Operation& operation, const RandomShapes& random, double least_flops,
                    const Point& point) {
  const Work work = operation.MakeProblem(point)->work();
  return work.flops >= least_flops && work.flops <= random.most.flops &&
         work.bytes >= random.least.bytes && work.bytes <= random.most.bytes;
}

}  // namespace

absl::StatusOr<std::vector<DrawnPoint>> DrawPoints(const Operation& operation,
                                                   const RandomShapes& random,
                                                   absl::string_view count,
                                                   absl::string_view shape_family, uint64_t seed,
                                                   absl::string_view least_flops) {
  ASSIGN_OR_RETURN(const int64_t wanted, ParseCount(count));
  ASSIGN_OR_RETURN(const std::vector<const ShapeFamily*> turns, TurnsOf(random, shape_family));
  ASSIGN_OR_RETURN(const double least, ParseLeastFlops(least_flops, random.least, random.most));
  std::vector<DrawnPoint> drawn;
  const auto is_new = [&](const Point& point) {
    return std::none_of(drawn.begin(), drawn.end(),
                        [&](const DrawnPoint& other) { return other.point == point; });
  };
  for (int64_t i = 0; i < wanted; ++i) {
    const ShapeFamily& family = *turns[static_cast<size_t>(i) % turns.size()];
    ShapeRandom numbers(seed, static_cast<uint64_t>(i));
    int attempts = 0;
    Point point = family.draw(&numbers);
    while (!IsWithinBounds(operation, random, least, point) || !is_new(point)) {
      if (++attempts == kMaxAttempts) {
        return RefuseValue("--count", absl::StrCat(wanted),
                           absl::StrCat("at most ", i, ": no other shape of the family ",
                                        family.name, " was found"));
      }
      point = family.draw(&numbers);
    }
    drawn.push_back({std::move(point), family.name});
  }
  return drawn;
}

}  // namespace stridewise
