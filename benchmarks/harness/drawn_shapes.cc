#include "benchmarks/harness/drawn_shapes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/row_comparison.h"

namespace stridewise {
namespace {

// Returns a key that is equal for rows of one shape under the same conditions.
std::string KeyOf(ResultRow row) {
  for (const Column column :
       {Column::kImplementation, Column::kMath, Column::kBlockX, Column::kBlockY}) {
    row.Set(column, "");
  }
  return RowKey(row);
}

bool HasFamily(const ResultRow& row) { return !row.Get(Column::kShapeFamily).empty(); }

// Returns the paired ratio of a correct row of a drawn shape.
std::optional<double> RatioOf(const ResultRow& row, const Peer& peer) {
  if (!HasFamily(row) || !IsOk(row)) return std::nullopt;
  const std::optional<double> ratio = Number(row, peer.column);
  if (ratio.value_or(0) <= 0) return std::nullopt;
  return *ratio / peer.scale;
}

}  // namespace

DrawnShapes::DrawnShapes(const Operation& operation, const RandomShapes& random,
                         absl::Span<const ResultRow> rows)
    : operation_(operation), random_(random) {
  const Peer* peer = operation.FindPeer(random_.peer);
  if (peer == nullptr) return;
  metrics_.push_back({random_.rivals.empty() ? std::string(ColumnName(peer->column)) : "vs_best",
                      Better::kHigher, false});
  if (random_.small_bytes > 0) {
    metrics_.push_back({absl::StrCat("time_over_", random_.peer), Better::kLower, true});
  }
  for (const ResultRow& row : rows) AddChooser(row, *peer);
  for (const ResultRow& row : rows) AddKernel(row, *peer);
  for (const ResultRow& row : rows) {
    AddBeside(row, *peer, random_.rivals, &DrawnShape::rival_ratio);
    AddBeside(row, *peer, random_.other_peers, &DrawnShape::other_ratio);
  }
  const auto has_others = [](const DrawnShape& shape) { return shape.other_ratio > 0; };
  if (std::any_of(shapes_.begin(), shapes_.end(), has_others)) {
    metrics_.push_back({"vs_best", Better::kHigher, false, /*of_others=*/true});
  }
  if (random_.rivals.empty()) return;
  for (DrawnShape& shape : shapes_) shape.ratio = 1 / shape.rival_ratio;
  // Shapes that no rival took say nothing.
  const auto has_none = [](const DrawnShape& shape) { return shape.rival_ratio == 0; };
  shapes_.erase(std::remove_if(shapes_.begin(), shapes_.end(), has_none), shapes_.end());
}

std::vector<const DrawnShape*> DrawnShapes::Of(const ShapeMetric& metric,
                                               const std::string& variant,
                                               const std::string& family) const {
  std::vector<const DrawnShape*> found;
  for (const DrawnShape& shape : shapes_) {
    if (metric.of_others && shape.other_ratio == 0) continue;
    if (shape.is_small == metric.of_small && VariantOf(*shape.row) == variant &&
        (family == "all" || shape.row->Get(Column::kShapeFamily) == family)) {
      found.push_back(&shape);
    }
  }
  return found;
}

std::vector<const DrawnShape*> DrawnShapes::WorstOf(const ShapeMetric& metric,
                                                    const std::string& variant, int count) const {
  std::vector<const DrawnShape*> shapes = Of(metric, variant, "all");
  const auto is_slower = [&](const DrawnShape* a, const DrawnShape* b) {
    const double value = metric.ValueOf(*a, a->ratio);
    const double other = metric.ValueOf(*b, b->ratio);
    return metric.better == Better::kHigher ? value < other : value > other;
  };
  std::stable_sort(shapes.begin(), shapes.end(), is_slower);
  shapes.resize(std::min(shapes.size(), static_cast<size_t>(count)));
  return shapes;
}

std::string DrawnShapes::VariantOf(const ResultRow& row) const {
  std::vector<std::pair<Column, std::string>> usual = {
      {Column::kDtype, std::string(operation_.types().front())}, {Column::kL2, "cold"}};
  for (const Axis& axis : operation_.axes()) usual.emplace_back(axis.column, "");
  std::string text;
  for (const auto& [column, value] : usual) {
    const std::string& has = row.Get(column);
    const auto& drawn = random_.drawn;
    if (has == value || std::find(drawn.begin(), drawn.end(), column) != drawn.end()) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", ColumnName(column), "=", has);
  }
  return text;
}

void DrawnShapes::AddChooser(const ResultRow& row, const Peer& peer) {
  // Beside rivals it has no ratio: theirs are to it.
  const bool is_peer = !random_.rivals.empty() && HasFamily(row) && IsOk(row);
  const std::optional<double> ratio = is_peer ? 1.0 : RatioOf(row, peer);
  if (row.Get(Column::kImplementation) != random_.chooser || !ratio.has_value()) return;
  const auto [place, is_new] = by_key_.emplace(KeyOf(row), shapes_.size());
  if (is_new) shapes_.emplace_back();
  DrawnShape& shape = shapes_[place->second];
  shape.row = &row;
  shape.ratio = *ratio;
  const Point point = PointOf(operation_, row);
  shape.is_small = operation_.MakeProblem(point)->work().bytes < random_.small_bytes;
  const std::string variant = VariantOf(row);
  if (std::find(variants_.begin(), variants_.end(), variant) == variants_.end()) {
    variants_.push_back(variant);
  }
}

void DrawnShapes::AddKernel(const ResultRow& row, const Peer& peer) {
  const std::optional<double> ratio = RatioOf(row, peer);
  const auto& kernels = random_.kernels;
  const std::string& name = row.Get(Column::kImplementation);
  if (!ratio.has_value() || std::find(kernels.begin(), kernels.end(), name) == kernels.end()) {
    return;
  }
  const auto place = by_key_.find(KeyOf(row));
  if (place == by_key_.end()) return;
  DrawnShape& shape = shapes_[place->second];
  if (*ratio <= shape.fastest_ratio) return;
  shape.fastest = &row;
  shape.fastest_ratio = *ratio;
}

void DrawnShapes::AddBeside(const ResultRow& row, const Peer& peer,
                            const std::vector<std::string>& names, double DrawnShape::*ratio_of) {
  const std::optional<double> ratio = RatioOf(row, peer);
  const std::string& name = row.Get(Column::kImplementation);
  const auto place = by_key_.find(KeyOf(row));
  if (!ratio.has_value() || std::find(names.begin(), names.end(), name) == names.end() ||
      place == by_key_.end()) {
    return;
  }
  double& best = shapes_[place->second].*ratio_of;
  best = std::max(best, *ratio);
}

}  // namespace stridewise
