#include "common/gpu/argument_checks.h"

#include "absl/strings/str_cat.h"

namespace stridewise {

absl::Status CheckAtLeast(absl::string_view argument, int64_t value, int64_t lowest) {
  if (value >= lowest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(argument, " is ", value, "; allowed is ", lowest, " or more"));
}

absl::Status CheckAtMost(absl::string_view argument, int64_t value, int64_t highest) {
  if (value <= highest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(argument, " is ", value, "; allowed is at most ", highest));
}

absl::Status CheckBlock(Blocks blocks, const Block& own, const Block& asked) {
  if (blocks == Blocks::kAny || (asked.x == own.x && asked.y == own.y)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("block is ", asked.x, "x", asked.y, "; allowed is ", own.x, "x", own.y));
}

}  // namespace stridewise
