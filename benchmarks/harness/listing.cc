#include "benchmarks/harness/listing.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/flags_for.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/random_shapes.h"
#include "benchmarks/harness/row_columns.h"

namespace stridewise {

std::string ListText(const Operation& operation, const Operation* on_gpus) {
  std::string text = "Implementations, the ladder's with the number of their step:\n";
  for (const Implementation* i : operation.implementations()) {
    absl::StrAppendFormat(
        &text, "  %-28s %-4s %3s %-13s %s\n", i->name, i->on_device() ? "GPU" : "CPU",
        i->step == kNoStep ? "" : absl::StrCat(i->step), operation.TakesText(*i), i->summary);
  }
  text += "Presets:\n";
  for (const Preset& preset : AllPresets(operation)) {
    absl::StrAppendFormat(&text, "  %-28s %s\n", preset.name, preset.description);
  }
  if (!operation.random_shapes().families.empty()) text += "Families of random shapes:\n";
  for (const ShapeFamily& family : operation.random_shapes().families) {
    absl::StrAppendFormat(&text, "  %-28s %s\n", family.name, family.description);
  }
  if (!operation.peers().empty()) text += "Rows can be paired with:\n";
  for (const Peer& peer : operation.peers()) {
    absl::StrAppendFormat(&text, "  %-28s column %s\n", peer.implementation,
                          ColumnName(peer.column));
  }
  if (const Implementation* beyond = operation.beyond_card()) {
    absl::StrAppendFormat(&text, "Where the GPU's memory ends, and by its name:\n  %-28s %s\n",
                          beyond->name, beyond->summary);
  }
  if (on_gpus != nullptr) {
    text += "On several GPUs, with --gpus=ROWSxCOLS:\n";
    for (const Implementation* i : on_gpus->implementations()) {
      absl::StrAppendFormat(&text, "  %-28s %s\n", i->name, i->summary);
    }
  }
  return text + operation.ListNotes();
}

std::string PlanText(absl::Span<const Config> plan) {
  std::string text;
  for (const Config& config : plan) {
    const std::vector<std::string> flags = FlagsFor(config);  // The first is --operation.
    absl::StrAppend(&text, absl::StrJoin(flags.begin() + 1, flags.end(), " "), "\n");
  }
  return text;
}

}  // namespace stridewise
