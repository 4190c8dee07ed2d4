// Declarations with __global__, __device__, __constant__ and so on: which functions run on the
// device, and what their declarations become.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_DEVICE_DECLARATIONS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_DEVICE_DECLARATIONS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/run/token_view.h"

namespace stridewise::executor {

struct DeviceDeclarations {
  std::vector<TokenRange> bodies;                        // Of functions of the device, with braces.
  std::map<int, std::string> replacement;                // Of single tokens.
  std::vector<std::pair<int, std::string>> unsupported;  // A token, and what is wrong with it.
};

// Returns the declarations. `section_prefix` is that of RewriteCuda().
DeviceDeclarations FindDeviceDeclarations(const TokenView& tokens,
                                          absl::string_view section_prefix);

// Returns whether the word is __global__ or one of its like.
bool IsDeviceMarker(absl::string_view word);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_DEVICE_DECLARATIONS_H_
