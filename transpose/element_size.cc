#include "transpose/element_size.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stridewise {

LaunchStatus ElementSizeNotAllowed(int64_t element_bytes) {
  return absl::InvalidArgumentError(
      absl::StrCat("element_bytes is ", element_bytes, "; allowed is 1, 2, 4, 8 and 16"));
}

}  // namespace stridewise
