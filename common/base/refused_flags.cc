#include "common/base/refused_flags.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stridewise {

namespace {

absl::Status Refuse(absl::string_view flag, absl::string_view value, absl::string_view end) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": '", absl::CHexEscape(value), "' is not allowed", end));
}

}  // namespace

absl::Status RefuseValue(absl::string_view flag, absl::string_view value,
                         absl::string_view allowed) {
  return Refuse(flag, value, absl::StrCat("; allowed is ", allowed));
}

absl::Status RefuseFlag(absl::string_view flag, absl::string_view value, absl::string_view why) {
  return Refuse(flag, value, absl::StrCat(" ", why));
}

absl::Status OfFlag(absl::string_view flag, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(flag, ": ", status.message()));
}

absl::Status CheckRange(absl::string_view flag, double value, double lowest, double highest) {
  if (value >= lowest && value <= highest) return absl::OkStatus();
  return RefuseValue(flag, absl::StrFormat("%.10g", value),
                     absl::StrFormat("%.10g to %.10g", lowest, highest));
}

}  // namespace stridewise
