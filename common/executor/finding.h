// Mistakes that the host executor finds in a kernel, and their text.

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
  kOutOfBounds,      // An access outside every buffer or every __shared__ variable.
  kWildAddress,      // An access outside the device's memory: null, a host pointer, garbage.
  kMisaligned,       // An address that is not a multiple of the access's size.
  kWriteToReadOnly,  // A store to a read-only buffer.
  kUninitialised,    // A load of bytes that were never written.
  kRace,  // Two unordered accesses of two threads to a byte, at least one of them a store.
  kBarrierDivergence,  // Threads that wait at different barriers, or that never arrive.
  kSharedMemoryLimit,  // More shared memory than a block can have.
  kRunaway,            // A thread that does not end, perhaps waiting for another block.
  kMbarrier,           // A barrier used before its init, with a wrong count, or made again.
  kWgmma,              // Without wgmma.fence, with different descriptors, or never waited for.
  kProxyFence,         // An asynchronous read of what was written without fence.proxy.async.
  kCluster,            // Shared memory of a block that may not have begun, or have ended.
  kRegisters,          // setmaxnreg with a wrong number, by part of a warpgroup, or of too many.
  kBulkCopy,           // Misaligned, without a map, or under way when the block ends.
  kDeadlock,           // Threads wait for barriers that no one can complete.
  kUnsupported,        // Inline PTX that the executor does not run.
  kAssertion,          // assert() that does not hold, or __trap().
};

// Returns "out-of-bounds access", "data race" and so on.
absl::string_view CheckName(Check check);

// A thread of the grid and its position in the code.
struct Culprit {
  Extent3 block{0, 0, 0};
  Extent3 thread{0, 0, 0};
  uintptr_t pc = 0;  // A return address; 0 where it is unknown.
  bool store = false;
};

struct Finding {
  Check check;
  uintptr_t kernel = 0;  // The kernel's entry point.
  Culprit culprit;
  bool has_other = false;
  Culprit other;  // Of a race: the access that came first.
  // Describes the access: "4-byte store to buffer 'out', 4 bytes after its 400 bytes".
  std::string message;
};

// Returns several lines in the style of compute-sanitizer, without a newline at the end:
//
//   data race in TileSquare: 4-byte load of shared memory, offset 132
//       by block (0,0,0) thread (1,0,0) at 11_tile_square.cu:31
//       after the store by block (0,0,0) thread (0,1,0) at 11_tile_square.cu:27
std::string FindingsText(absl::Span<const Finding> findings);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_FINDING_H_
