#include "benchmarks/harness/beyond_card.h"

namespace stridewise {

std::optional<Config> BeyondCard(const Config& config) {
  const Operation& operation = *config.operation;
  const Implementation* beyond = operation.beyond_card();
  if (beyond == nullptr || !config.implementation->operands_on_device()) return std::nullopt;
  if (!operation.Takes(*beyond, config.point) ||
      !operation.CheckSupported(*beyond, config.point).ok()) {
    return std::nullopt;
  }
  return Config{config.operation, beyond, config.point, kNoBlock, config.family};
}

}  // namespace stridewise
