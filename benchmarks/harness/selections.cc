#include "benchmarks/harness/selections.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// Returns the axis of the flags whose values have shapes of their own; null without one.
const Axis* GivenAxisWithShapes(const Operation& operation, const PlanFlags& flags) {
  for (const Axis& axis : operation.axes()) {
    const auto given = flags.axes.find(axis.flag);
    if (axis.shape_of != nullptr && given != flags.axes.end() && !given->second.empty()) {
      return &axis;
    }
  }
  return nullptr;
}

// Returns what the flags measure instead of the preset's shapes; nothing where they name none.
absl::StatusOr<std::vector<Selection>> NamedSelections(const Operation& operation,
                                                       const PlanFlags& flags) {
  std::vector<Selection> selections;
  if (!flags.sizes.empty() || !flags.shapes.empty()) {
    selections.push_back(Selection("*").Sizes(flags.sizes).Shapes(flags.shapes));
  } else if (const Axis* axis = GivenAxisWithShapes(operation, flags)) {
    ASSIGN_OR_RETURN(const std::vector<std::string> values,
                     axis->parse(absl::StrCat("--", axis->flag), flags.axes.at(axis->flag)));
    for (const std::string& value : values) {
      selections.push_back(Selection("*").Shapes(axis->shape_of(value)).Axis(axis->flag, value));
    }
  }
  return selections;
}

absl::Status NotAllowedWithDrawn(absl::string_view flag, absl::string_view value) {
  return RefuseFlag(absl::StrCat("--", flag), value,
                    absl::StrCat("with --preset=", kRandomPreset, ", which draws it"));
}

// Refuses flags of what is drawn where points are drawn, and flags of drawing where none are.
absl::Status CheckDrawing(const Operation& operation, const std::vector<Selection>& selections,
                          const PlanFlags& flags) {
  const auto selection =
      std::find_if(selections.begin(), selections.end(),
                   [](const Selection& one) { return one.drawn_from != nullptr; });
  if (selection == selections.end()) {
    const std::pair<const std::string&, const char*> of_drawing[] = {
        {flags.count, "--count"},
        {flags.shape_family, "--shape_family"},
        {flags.least_flops, "--least_flops"}};
    for (const auto& [text, name] : of_drawing) {
      if (text.empty()) continue;
      return RefuseFlag(name, text, absl::StrCat("without --preset=", kRandomPreset));
    }
    return absl::OkStatus();
  }
  const std::vector<Column>& drawn = selection->drawn_from->drawn;
  const auto draws_column = [&](Column column) {
    return std::find(drawn.begin(), drawn.end(), column) != drawn.end();
  };
  if (!flags.batch.empty()) return NotAllowedWithDrawn("batch", flags.batch);
  if (!flags.types.empty() && draws_column(Column::kDtype)) {
    return NotAllowedWithDrawn("types", flags.types);
  }
  for (const Axis& axis : operation.axes()) {
    const auto given = flags.axes.find(axis.flag);
    if (given != flags.axes.end() && !given->second.empty() && draws_column(axis.column)) {
      return NotAllowedWithDrawn(axis.flag, given->second);
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool NameShapes(const Operation& operation, const PlanFlags& flags) {
  return !flags.sizes.empty() || !flags.shapes.empty() ||
         GivenAxisWithShapes(operation, flags) != nullptr;
}

absl::StatusOr<std::vector<Selection>> SelectionsFor(const Operation& operation,
                                                     const Preset& preset, const PlanFlags& flags) {
  ASSIGN_OR_RETURN(std::vector<Selection> selections, NamedSelections(operation, flags));
  const bool named = !selections.empty();
  if (!named) selections = preset.selections;
  for (Selection& selection : selections) {
    if (!flags.types.empty()) selection.types = flags.types;
    if (!flags.blocks.empty()) selection.blocks = flags.blocks;
    for (const auto& [axis, text] : flags.axes) {
      if (text.empty() || (named && selection.axes.count(axis) == 1)) continue;
      selection.axes[axis] = text;
    }
    if (flags.batch.empty()) continue;
    ASSIGN_OR_RETURN(selection.batch, ParseBatch("--batch", flags.batch));
  }
  RETURN_IF_ERROR(CheckDrawing(operation, selections, flags));
  return selections;
}

}  // namespace stridewise
