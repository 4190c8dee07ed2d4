// What a sweep measures by name, and what it is judged by.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_PRESET_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_PRESET_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/sweep_args.h"

namespace stridewise {

struct RandomShapes;

// Some implementations over some points. Texts are those of the flags of the same names.
//
//   Selection("tiled,cublas").Sizes("32:4096:*2").Axis("layouts", "nn,tn")
struct Selection {
  explicit Selection(std::string names) : implementations(std::move(names)) {}

  Selection&& Sizes(std::string text) && { return sizes = std::move(text), std::move(*this); }
  Selection&& Shapes(std::string text) && { return shapes = std::move(text), std::move(*this); }
  Selection&& Types(std::string text) && { return types = std::move(text), std::move(*this); }
  Selection&& BlockShapes(std::string text) && {
    return blocks = std::move(text), std::move(*this);
  }
  Selection&& Batch(int64_t count) && { return batch = count, std::move(*this); }
  Selection&& Axis(const std::string& flag, std::string text) && {
    return axes[flag] = std::move(text), std::move(*this);
  }
  Selection&& MaxSize(int64_t size) && { return max_size = size, std::move(*this); }
  Selection&& MaxHostExtent(int64_t extent) && {
    return max_host_extent = extent, std::move(*this);
  }
  Selection&& RandomShapes(int64_t count) && { return random_shapes = count, std::move(*this); }
  Selection&& DrawnFrom(const struct RandomShapes& shapes) && {
    return drawn_from = &shapes, std::move(*this);
  }

  std::string implementations;  // Names or globs.
  std::string sizes;            // All extents equal.
  std::string shapes;
  std::string types;   // Empty for the usual one.
  std::string blocks;  // Empty for the implementations' own.
  int64_t batch = 1;
  std::map<std::string, std::string> axes;  // By flag; those that are missing have the usual value.
  int64_t max_size = kMaxSize;              // Leaves out larger items of `sizes`.
  int64_t max_host_extent = kMaxExtent;     // Leaves out larger shapes for host implementations.
  int64_t random_shapes = 0;  // Adds shapes with extents from 1 to 1024, drawn from the seed.
  const struct RandomShapes* drawn_from =
      nullptr;  // Takes points that are drawn instead of shapes.
};

struct Preset {
  std::string name;
  std::string description;
  std::vector<Selection> selections;
  bool cross_check = false;  // Compares the implementations' results with each other, too.
  std::string pair_with{};   // A peer; empty for the operation's usual one.

  // What is measured of the selections when the command line names no implementations; empty for
  // all.
  std::string usual_implementations{};

  const RandomShapes* random = nullptr;  // What its selections draw from, and how that is judged.
};

// The peer of a floor that stands for the arithmetic's peak: the ratio is pct_of_peak / 100.
inline constexpr absl::string_view kPeakPeer = "peak";

// The least speed of an implementation over a peer's.
struct Floor {
  const char* peer;
  double floor;
  double aim = 0;  // A higher ratio that is shown and not judged; 0 for none.
};

// What one implementation has to reach at some points.
struct Limit {
  const char* name;
  Selection selection;  // Names one implementation.
  std::vector<Floor> floors;
  const char* preset = "limits";  // The preset that measures it.
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_PRESET_H_
