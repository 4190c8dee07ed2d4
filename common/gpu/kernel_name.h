// Shortens a kernel's mangled name for display.

#ifndef STRIDEWISE_COMMON_GPU_KERNEL_NAME_H_
#define STRIDEWISE_COMMON_GPU_KERNEL_NAME_H_

#include <string>

#include "absl/strings/string_view.h"

namespace stridewise {

inline constexpr size_t kMaxKernelNameLength = 120;

// Demangles the name and removes what does not distinguish kernels: return type, parameters,
// namespaces, and the types of template arguments that are numbers. A result longer than
// kMaxKernelNameLength is cut and ends with "...". A name that is not mangled is only cut.
//
//   _ZN10stridewise12_GLOBAL__N_15TiledIfEEvNS_11ConstMatrixIT_EES4_NS_6MatrixIS3_EE  Tiled<float>
std::string ShortKernelName(const std::string& mangled);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_KERNEL_NAME_H_
