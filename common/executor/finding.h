// What the host executor found wrong with a kernel, and how it says so.

#ifndef STRIDEWISE_COMMON_EXECUTOR_FINDING_H_
#define STRIDEWISE_COMMON_EXECUTOR_FINDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise::executor {

enum class Check {
  kOutOfBounds,        // Outside every buffer, or every __shared__ variable.
  kWildAddress,        // In no memory of the device: null, a host pointer, garbage.
  kMisaligned,         // Not a multiple of the access's size.
  kWriteToReadOnly,    // A store to a buffer that the kernel was to read only.
  kUninitialised,      // A read of what nobody has written.
  kRace,               // Two threads, one place, at least one writes, nothing orders them.
  kBarrierDivergence,  // Threads wait at different barriers, or some never come.
  kSharedMemoryLimit,  // More shared memory than a block can have.
  kRunaway,            // A thread that does not end, perhaps waiting for another block.
};

// "out-of-bounds access", "data race", ...
absl::string_view CheckName(Check check);

// A thread of the grid and where in the code it was.
struct Culprit {
  Extent3 block{0, 0, 0};
  Extent3 thread{0, 0, 0};
  uintptr_t pc = 0;  // A return address; 0 where there is none.
  bool store = false;
};

struct Finding {
  Check check;
  uintptr_t kernel = 0;  // Its entry point.
  Culprit culprit;
  bool has_other = false;  // A race: the access that came first.
  Culprit other;
  // What and where: "4-byte store to buffer 'out', 4 bytes after its 400 bytes".
  std::string message;
};

// Several lines in the manner of compute-sanitizer, without a newline at the end:
//
//   data race in TileSquare: 4-byte load of shared memory, offset 132
//       by block (0,0,0) thread (1,0,0) at tile_square.cu:31
//       after the store by block (0,0,0) thread (0,1,0) at tile_square.cu:27
std::string FindingsText(absl::Span<const Finding> findings);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_FINDING_H_
