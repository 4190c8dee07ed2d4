#include "benchmarks/harness/operation.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/refused_flags.h"

namespace stridewise {

void Operation::DescribeImplementation(const Implementation& /*implementation*/,
                                       ResultRow* row) const {
  row->Set(Column::kOperation, name());
}

const RandomShapes& Operation::random_shapes() const {
  static const auto& none = *new RandomShapes;
  return none;
}

const RandomShapes& Operation::host_random_shapes() const { return Operation::random_shapes(); }

absl::StatusOr<std::unique_ptr<Implementation>> Operation::OnExecutor(
    const Implementation& implementation) const {
  return absl::UnimplementedError(
      absl::StrCat(implementation.name, " does not run on the host executor"));
}

const Implementation* Operation::Find(absl::string_view implementation) const {
  for (const Implementation* candidate : implementations()) {
    if (candidate->name == implementation) return candidate;
  }
  const Implementation* beyond = beyond_card();
  return beyond != nullptr && beyond->name == implementation ? beyond : nullptr;
}

const Peer* Operation::FindPeer(absl::string_view implementation) const {
  for (const Peer& peer : peers()) {
    if (peer.implementation == implementation) return &peer;
  }
  return nullptr;
}

Point Operation::TinyPoint(const Point& like) const {
  Point one = UsualPoint(std::vector<int64_t>(like.extents.size(), 1));
  one.type = like.type;
  return one;
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

std::vector<std::string> AxisFlagsOf(absl::Span<const Operation* const> operations) {
  std::vector<std::string> names;
  for (const Operation* operation : operations) {
    for (const Axis& axis : operation->axes()) names.emplace_back(axis.flag);
  }
  return names;
}

absl::StatusOr<std::map<std::string, std::string>> GivenAxes(
    const Operation& operation, absl::Span<const Operation* const> others) {
  std::map<std::string, std::string> given;
  for (const Axis& axis : operation.axes()) given[axis.flag] = axis.given();
  for (const Operation* other : others) {
    for (const Axis& axis : other->axes()) {
      if (given.count(axis.flag) == 1 || axis.given().empty()) continue;
      return RefuseFlag(absl::StrCat("--", axis.flag), axis.given(),
                        absl::StrCat("with --operation=", operation.name()));
    }
  }
  return given;
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

Point PointOf(const Operation& operation, const ResultRow& row) {
  const auto number = [&](Column column, int64_t otherwise) {
    int64_t value = 0;
    return absl::SimpleAtoi(row.Get(column), &value) ? value : otherwise;
  };
  Point point;
  for (const Column column : operation.extent_columns()) point.extents.push_back(number(column, 0));
  point.type = row.Get(Column::kDtype);
  point.batch = number(Column::kBatch, 1);
  for (const Axis& axis : operation.axes()) {
    const std::string& value = row.Get(axis.column);
    point.axes.push_back(value.empty() ? axis.usual : value);
  }
  return point;
}

}  // namespace stridewise
