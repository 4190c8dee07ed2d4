#include "benchmarks/harness/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "benchmarks/harness/draw_points.h"
#include "benchmarks/harness/plan_order.h"
#include "benchmarks/harness/selections.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/verify/fill.h"

namespace stridewise {
namespace {

constexpr uint64_t kMaxRandomExtent = 1024;

using Extents = std::vector<int64_t>;

// The registry and, behind it, what only its name selects.
std::vector<const Implementation*> Selectable(const Operation& operation) {
  std::vector<const Implementation*> all = operation.implementations();
  if (operation.beyond_card() != nullptr) all.push_back(operation.beyond_card());
  return all;
}

std::vector<std::string> Names(const Operation& operation) {
  std::vector<std::string> names;
  for (const Implementation* i : Selectable(operation)) names.push_back(i->name);
  return names;
}

// Returns whether a comma list has the name itself and not a pattern that matches it.
bool Mentions(const std::string& list, const std::string& name) {
  for (const absl::string_view item : absl::StrSplit(list, ',')) {
    if (absl::StripAsciiWhitespace(item) == name) return true;
  }
  return false;
}

std::vector<Extents> SmallRandomShapes(int64_t count, size_t dimensions, uint64_t seed) {
  std::vector<Extents> shapes(static_cast<size_t>(count), Extents(dimensions));
  uint64_t drawn = 0;
  for (Extents& shape : shapes) {
    for (int64_t& extent : shape) {
      extent = static_cast<int64_t>(Mix64(seed ^ Mix64(drawn++)) % kMaxRandomExtent) + 1;
    }
  }
  return shapes;
}

absl::StatusOr<std::vector<Extents>> SelectedShapes(const Selection& selection, size_t dimensions,
                                                    uint64_t seed) {
  std::vector<Extents> shapes = SmallRandomShapes(selection.random_shapes, dimensions, seed);
  if (!selection.sizes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ParseSizes("--sizes", selection.sizes));
    for (const int64_t size : sizes) {
      if (size <= selection.max_size) shapes.emplace_back(dimensions, size);
    }
  }
  if (!selection.shapes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<Extents> more,
                     ParseExtents("--shapes", selection.shapes, static_cast<int>(dimensions)));
    shapes.insert(shapes.end(), more.begin(), more.end());
  }
  return shapes;
}

absl::StatusOr<std::vector<std::string>> ParseTypes(const Operation& operation,
                                                    const std::string& text) {
  const absl::Span<const absl::string_view> known = operation.types();
  std::vector<std::string> types;
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    name = absl::StripAsciiWhitespace(name);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return RefuseValue("--types", name, absl::StrJoin(known, ", "));
    }
    types.emplace_back(name);
  }
  return types;
}

// Returns every combination of the axes' values, those of `point` where the selection has none.
absl::StatusOr<std::vector<std::vector<std::string>>> AxisValues(const Operation& operation,
                                                                 const Selection& selection,
                                                                 const Point& point) {
  std::vector<std::vector<std::string>> combinations = {{}};
  for (size_t i = 0; i < operation.axes().size(); ++i) {
    const Axis& axis = operation.axes()[i];
    const auto given = selection.axes.find(axis.flag);
    ASSIGN_OR_RETURN(const std::vector<std::string> values,
                     axis.parse(absl::StrCat("--", axis.flag),
                                given == selection.axes.end() ? point.axes[i] : given->second));
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& before : combinations) {
      for (const std::string& value : values) {
        longer.push_back(before);
        longer.back().push_back(value);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

// Returns the blocks with which an implementation is measured.
std::vector<Block> BlocksFor(const Implementation& implementation,
                             const std::vector<BlockShape>& wanted) {
  if (wanted.empty() || implementation.blocks == Blocks::kFixed) {
    return {implementation.default_block};
  }
  std::vector<Block> blocks;
  for (const BlockShape& block : wanted) blocks.push_back({block.x, block.y});
  return blocks;
}

absl::Status CheckBatch(const Extents& shape, int64_t batch) {
  Extents largest = shape;
  std::sort(largest.rbegin(), largest.rend());
  const int64_t elements = largest[0] * (largest.size() > 1 ? largest[1] : 1);
  if (batch == 1 || elements <= kMaxElements / batch) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--batch: ", batch, " problems of ", absl::StrJoin(shape, "x"),
                   " are not allowed; allowed are at most ", kMaxElements, " elements"));
}

// The lists that a selection's texts stand for.
struct SelectedLists {
  std::vector<size_t> implementations;
  std::vector<DrawnPoint> points;  // To be combined with what follows. Few are drawn.
  std::vector<std::string> types;  // Empty for the points' own.
  std::vector<BlockShape> blocks;
};

absl::StatusOr<std::vector<DrawnPoint>> SelectedPoints(const Operation& operation,
                                                       const Selection& selection,
                                                       const PlanFlags& flags) {
  if (selection.drawn_from != nullptr) {
    return DrawPoints(operation, *selection.drawn_from, flags.count, flags.shape_family, flags.seed,
                      flags.least_flops);
  }
  std::vector<DrawnPoint> points;
  ASSIGN_OR_RETURN(const std::vector<Extents> shapes,
                   SelectedShapes(selection, operation.extent_columns().size(), flags.seed));
  for (const Extents& shape : shapes) {
    RETURN_IF_ERROR(CheckBatch(shape, selection.batch));
    points.push_back({operation.UsualPoint(shape), ""});
    points.back().point.batch = selection.batch;
  }
  return points;
}

absl::StatusOr<SelectedLists> ParseSelection(const Operation& operation, const Selection& selection,
                                             const PlanFlags& flags) {
  SelectedLists lists;
  ASSIGN_OR_RETURN(lists.implementations,
                   SelectByGlob("--implementations", selection.implementations, Names(operation)));
  ASSIGN_OR_RETURN(lists.points, SelectedPoints(operation, selection, flags));
  if (!selection.types.empty()) {
    ASSIGN_OR_RETURN(lists.types, ParseTypes(operation, selection.types));
  }
  if (!selection.blocks.empty()) {
    ASSIGN_OR_RETURN(lists.blocks, ParseBlocks("--blocks", selection.blocks));
  }
  return lists;
}

absl::Status AddSelection(const Operation& operation, const Selection& selection,
                          const PlanFlags& flags, std::vector<Config>* plan) {
  const std::vector<const Implementation*> registry = Selectable(operation);
  ASSIGN_OR_RETURN(const SelectedLists lists, ParseSelection(operation, selection, flags));
  for (const auto& [drawn, family] : lists.points) {
    const int64_t largest = *std::max_element(drawn.extents.begin(), drawn.extents.end());
    ASSIGN_OR_RETURN(const std::vector<std::vector<std::string>> combinations,
                     AxisValues(operation, selection, drawn));
    const std::vector<std::string> own_type = {drawn.type};
    for (const std::vector<std::string>& axes : combinations) {
      for (const std::string& type : lists.types.empty() ? own_type : lists.types) {
        const Point point = {drawn.extents, type, drawn.batch, axes};
        for (const size_t index : lists.implementations) {
          const Implementation& implementation = *registry[index];
          if (!implementation.on_device() && largest > selection.max_host_extent) continue;
          if (!operation.Takes(implementation, point)) continue;
          for (const Block& block : BlocksFor(implementation, lists.blocks)) {
            plan->push_back({&operation, &implementation, point, block, family});
          }
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status NothingLeft(const Operation& operation, const Preset& preset, const PlanFlags& flags) {
  std::string given;  // What narrows the choice besides.
  if (!flags.batch.empty()) given = ", with --batch";
  for (const Axis& axis : operation.axes()) {
    const auto value = flags.axes.find(axis.flag);
    if (value == flags.axes.end() || value->second.empty()) continue;
    absl::StrAppend(&given, given.empty() ? ", with --" : ", --", axis.flag);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      flags.implementations_flag, ": '", flags.implementations, "' selects nothing of the preset ",
      preset.name, given, "; --sizes or --shapes replace the preset"));
}

}  // namespace

absl::StatusOr<std::vector<Config>> MakePlan(const Operation& operation, const Preset& preset,
                                             const PlanFlags& flags) {
  const bool from_preset = !NameShapes(operation, flags);
  const std::string& names = flags.implementations.empty() && from_preset
                                 ? preset.usual_implementations
                                 : flags.implementations;
  ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                   SelectByGlob(flags.implementations_flag, names, Names(operation)));
  ASSIGN_OR_RETURN(const std::vector<Selection> selections,
                   SelectionsFor(operation, preset, flags));
  std::vector<Config> all;
  bool small_shapes_first = from_preset;
  for (const Selection& selection : selections) {
    RETURN_IF_ERROR(AddSelection(operation, selection, flags, &all));
    small_shapes_first = small_shapes_first && selection.drawn_from == nullptr;
  }
  std::set<const Implementation*> wanted;
  for (const size_t index : selected) wanted.insert(Selectable(operation)[index]);
  const Implementation* beyond = operation.beyond_card();
  if (beyond != nullptr && !Mentions(names, beyond->name)) wanted.erase(beyond);
  std::vector<Config> plan;
  for (Config& config : InOrder(all, Selectable(operation), small_shapes_first)) {
    if (wanted.count(config.implementation) == 1) plan.push_back(std::move(config));
  }
  if (plan.empty()) return NothingLeft(operation, preset, flags);
  return ShardOf(std::move(plan), flags.shard);
}

}  // namespace stridewise
