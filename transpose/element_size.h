// The element types of kernels that move elements: an unsigned integer of each size.

#ifndef STRIDEWISE_TRANSPOSE_ELEMENT_SIZE_H_
#define STRIDEWISE_TRANSPOSE_ELEMENT_SIZE_H_

#include <cstdint>

#include "common/gpu/launch_status.h"

namespace stridewise {

// 16 bytes as one element. A number, and not a struct of two, so that every compiler moves it in
// one access.
using Bits128 = unsigned __int128;

// Returns the error of ForElementSize().
LaunchStatus ElementSizeNotAllowed(int64_t element_bytes);

// Calls fn with an unsigned integer of `args.element_bytes`, of the arguments of a transpose or of
// a permutation.
template <typename Args, typename Fn>
LaunchStatus ForElementSize(const Args& args, Fn fn) {
  // NOLINTNEXTLINE(bugprone-branch-clone): each branch calls with another type.
  switch (args.element_bytes) {
    case 1:
      return fn(uint8_t());
    case 2:
      return fn(uint16_t());
    case 4:
      return fn(uint32_t());
    case 8:
      return fn(uint64_t());
    case 16:
      return fn(Bits128());
    default:
      return ElementSizeNotAllowed(args.element_bytes);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_ELEMENT_SIZE_H_
