// What a program measures: from a preset and the flags' texts to configurations in order.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_PLAN_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/operation.h"

namespace stridewise {

// The flags' texts; an empty one was not given.
struct PlanFlags {
  std::string sizes;
  std::string shapes;
  std::string implementations;
  std::string types;
  std::string blocks;
  std::string batch;
  std::map<std::string, std::string> axes;  // By flag.
  std::string count;                        // Of drawn points; see draw_points.h.
  std::string shape_family;
  std::string least_flops;
  uint64_t seed = 1;
  std::string shard;  // I/N: every N-th point, from the I-th on.
  const char* implementations_flag = "--implementations";  // Its name in messages.
};

// Returns whether the flags name shapes of their own: --sizes, --shapes or an axis whose values
// have shapes.
bool NameShapes(const Operation& operation, const PlanFlags& flags);

// Returns all configurations, each once, in the order in which they are measured: by shape, then
// batch and axes, then type, all as first named, then implementation in registry order, then block.
// Shapes of a preset go from small to large, so that a host row can tell when the next would take
// too long; those that are drawn at random stay as drawn, so that a sweep that was stopped has seen
// a fair part of them. Sizes or shapes in `flags` replace the preset's steps, implementations
// narrow them, the other texts replace those of the steps. A shard keeps every N-th point with all
// that is measured at it, so that rows are still paired and compared; it may be empty. Points go to
// the shards in turn, small and large ones alike. InvalidArgument, naming the flag, for a
// text that cannot be read, for one of what is drawn, and if nothing is left. The operation must
// outlive the plan.
absl::StatusOr<std::vector<Config>> MakePlan(const Operation& operation, const Preset& preset,
                                             const PlanFlags& flags);

// Returns the operation's presets, and after them `limits` and `random`, where it has such.
std::vector<Preset> AllPresets(const Operation& operation);

// InvalidArgument, listing the presets, when there is none of that name.
absl::StatusOr<Preset> FindPreset(const Operation& operation, absl::string_view name);

// Returns what presets of limits pair rows with: the operation's usual peer, else that of its first
// floor. Null without limits.
const Peer* LimitsPeer(const Operation& operation);

inline constexpr char kLimitsPreset[] = "limits";
inline constexpr char kRandomPreset[] = "random";
inline constexpr char kHostRandomPreset[] = "cpu_random";

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_PLAN_H_
