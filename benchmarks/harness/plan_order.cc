#include "benchmarks/harness/plan_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"

namespace stridewise {
namespace {

using Extents = std::vector<int64_t>;

// Numbers keys in the order in which they are first seen.
template <typename Key>
class Ranks {
 public:
  size_t Of(const Key& key) { return ranks_.emplace(key, ranks_.size()).first->second; }

 private:
  std::map<Key, size_t> ranks_;
};

double Volume(const Extents& extents) {
  double volume = 1;
  for (const int64_t extent : extents) volume *= static_cast<double>(extent);
  return volume;
}

}  // namespace

std::vector<Config> InOrder(const std::vector<Config>& configs,
                            const std::vector<const Implementation*>& registry,
                            bool small_shapes_first) {
  Ranks<Extents> shapes;
  Ranks<std::pair<int64_t, std::vector<std::string>>> forms;
  Ranks<std::string> types;
  using Key = std::tuple<double, size_t, size_t, size_t, ptrdiff_t>;
  std::set<std::tuple<Key, int64_t, int64_t>> seen;
  std::vector<std::pair<Key, const Config*>> keyed;
  for (const Config& config : configs) {
    const Point& point = config.point;
    const auto index =
        std::find(registry.begin(), registry.end(), config.implementation) - registry.begin();
    const Key key = {small_shapes_first ? Volume(point.extents) : 0, shapes.Of(point.extents),
                     forms.Of({point.batch, point.axes}), types.Of(point.type), index};
    if (seen.emplace(key, config.block.x, config.block.y).second) keyed.emplace_back(key, &config);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Config> plan;
  for (const auto& [key, config] : keyed) plan.push_back(*config);
  return plan;
}

absl::StatusOr<std::vector<Config>> ShardOf(std::vector<Config> plan, const std::string& text) {
  if (text.empty()) return plan;
  ASSIGN_OR_RETURN(const Shard shard, ParseShard("--shard", text));
  std::vector<Config> kept;
  int64_t points = 0;
  const Point* point = nullptr;
  for (const Config& config : plan) {
    if (point == nullptr || !(config.point == *point)) ++points;
    point = &config.point;
    if ((points - shard.index) % shard.count == 0) kept.push_back(config);
  }
  return kept;
}

}  // namespace stridewise
