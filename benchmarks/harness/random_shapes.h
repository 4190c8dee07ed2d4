// What an operation says about shapes that nobody chose: families of them, and how a family draws
// one. The preset `random` measures them; draw_points.h draws, random_report.h tells what came out.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_RANDOM_SHAPES_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_RANDOM_SHAPES_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/problem.h"
#include "common/measure/result_row.h"
#include "common/verify/fill.h"

namespace stridewise {

// Random numbers for one shape, which depend on a seed and the shape's number alone.
class ShapeRandom {
 public:
  ShapeRandom(uint64_t seed, uint64_t number) : state_(Mix64(Mix64(seed) ^ Mix64(~number))) {}

  // Returns a number from low to high, both included, each as often.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
  }

  // Returns a number from low to high, both included, whose logarithm is uniform: 1 to 10 as often
  // as 100 to 1000. REQUIRES: 0 < low <= high.
  int64_t LogUniform(int64_t low, int64_t high) {
    const auto first = static_cast<double>(low);
    const double fraction = static_cast<double>(Next() >> 11) * 0x1p-53;  // Below 1.
    const double drawn = first * std::pow(static_cast<double>(high + 1) / first, fraction);
    return std::clamp(static_cast<int64_t>(drawn), low, high);
  }

  // Returns one of the items, each as often.
  template <typename T, size_t count>
  const T& OneOf(const T (&items)[count]) {
    return items[Between(0, static_cast<int64_t>(count) - 1)];
  }

 private:
  uint64_t Next() { return state_ = Mix64(state_); }

  uint64_t state_;
};

// Shapes of one kind.
struct ShapeFamily {
  const char* name;
  const char* description;
  int weight;                          // How often --shape_family=all takes its turn.
  Point (*draw)(ShapeRandom* random);  // Points outside of the bounds are drawn anew.
};

// What the preset `random` of an operation measures, and how it is judged.
struct RandomShapes {
  std::vector<ShapeFamily> families;  // Empty for an operation that has no such preset.
  std::vector<Column> drawn;          // What families draw beside extents and batch.
  Work least;                         // Of a drawn point.
  Work most;

  std::string chooser;               // Measured at each shape: the call that chooses a kernel.
  std::vector<std::string> kernels;  // What it chooses among.
  std::string peer;                  // One of Operation::peers(), sampled in turn with each row.

  // Measured at each shape, too: the chooser, which is then the peer, is judged by its speed over
  // the fastest of these. Each is sampled in turn with it: a quotient of two ratios to a third one
  // would have the noise of four medians.
  std::vector<std::string> rivals{};

  // Measured at each shape of another type than the operation's usual one, too, each in turn with
  // the peer: there the chooser is also judged by its speed over the fastest of it and these.
  std::vector<std::string> other_peers{};

  // Measured at each shape only where --implementations names them, and judged by nobody.
  std::vector<std::string> onlookers{};

  // Shapes that move fewer bytes are judged by the time over the peer's, larger ones by the speed
  // over the peer's.
  double small_bytes = 0;

  // Returns what the chooser is compared with, in words.
  std::string Peers() const {
    if (rivals.empty()) return peer;
    return absl::StrCat("the fastest of ", absl::StrJoin(rivals, ", "));
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_RANDOM_SHAPES_H_
