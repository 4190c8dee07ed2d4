// What the registries of all exercises say of an implementation in the same words.

#ifndef STRIDEWISE_COMMON_GPU_IMPLEMENTATION_H_
#define STRIDEWISE_COMMON_GPU_IMPLEMENTATION_H_

#include "common/gpu/launch_geometry.h"

namespace stridewise {

enum class Where { kHost, kDevice };
enum class Blocks { kFixed, kAny };                    // May the caller choose the thread block?
enum class Executor { kHostExecutable, kDeviceOnly };  // Can the host executor run it?

// The block of host and library implementations.
inline constexpr Block kNoBlock = {0, 0, 0};

// A block in a kernels.inc: braces would not survive the macro.
constexpr Block Threads(int64_t x, int64_t y) { return {x, y, 1}; }

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_IMPLEMENTATION_H_
