#include "benchmarks/harness/flags_for.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace stridewise {

std::vector<std::string> FlagsFor(const Config& config) {
  const Point& point = config.point;
  std::vector<std::string> flags = {absl::StrCat("--operation=", config.operation->name()),
                                    absl::StrCat("--implementations=", config.implementation->name),
                                    absl::StrCat("--shapes=", ShapeText(config)),
                                    absl::StrCat("--types=", point.type)};
  if (config.implementation->blocks == Blocks::kAny) {
    flags.push_back(absl::StrCat("--blocks=", config.block.x, "x", config.block.y));
  }
  if (point.batch > 1) flags.push_back(absl::StrCat("--batch=", point.batch));
  for (size_t i = 0; i < point.axes.size(); ++i) {
    const Axis& axis = config.operation->axes()[i];
    if (point.axes[i] != axis.usual) {
      flags.push_back(absl::StrCat("--", axis.flag, "=", point.axes[i]));
    }
  }
  return flags;
}

}  // namespace stridewise
