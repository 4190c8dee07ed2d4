#include "benchmarks/harness/operation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stridewise {

void Operation::DescribeImplementation(const Implementation& /*implementation*/,
                                       ResultRow* row) const {
  row->Set(Column::kOperation, name());
}

absl::StatusOr<std::unique_ptr<Implementation>> Operation::OnExecutor(
    const Implementation& implementation) const {
  return absl::UnimplementedError(
      absl::StrCat(implementation.name, " does not run on the host executor"));
}

const Implementation* Operation::Find(absl::string_view implementation) const {
  for (const Implementation* candidate : implementations()) {
    if (candidate->name == implementation) return candidate;
  }
  return nullptr;
}

const Peer* Operation::FindPeer(absl::string_view implementation) const {
  for (const Peer& peer : peers()) {
    if (peer.implementation == implementation) return &peer;
  }
  return nullptr;
}

Point Operation::UsualPoint(std::vector<int64_t> extents) const {
  Point point;
  point.extents = std::move(extents);
  point.type = std::string(types().front());
  for (const Axis& axis : axes()) point.axes.emplace_back(axis.usual);
  return point;
}

double RoundedUp(int64_t extent, int64_t multiple) {
  return static_cast<double>(CeilDiv(extent, multiple) * multiple);
}

std::string ShapeText(const Config& config) { return absl::StrJoin(config.point.extents, "x"); }

std::string Title(const Config& config) {
  const Block& block = config.block;
  return absl::StrCat(config.implementation->name, ", ", ShapeText(config), " ", config.point.type,
                      block.x > 0 ? absl::StrCat(", blocks of ", block.x, "x", block.y) : "");
}

void SetProblemColumns(const Operation& operation, const Point& point, ResultRow* row) {
  row->Set(Column::kOperation, operation.name());
  row->Set(Column::kDtype, point.type);
  for (size_t i = 0; i < point.extents.size(); ++i) {
    row->Set(operation.extent_columns()[i], point.extents[i]);
  }
  for (size_t i = 0; i < point.axes.size(); ++i) {
    const Axis& axis = operation.axes()[i];
    if (point.axes[i] != axis.usual) row->Set(axis.column, point.axes[i]);
  }
  if (point.batch > 1) row->Set(Column::kBatch, point.batch);
}

}  // namespace stridewise
