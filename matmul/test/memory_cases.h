// What matmul kernels do to memory at 128 x 128 x 128, as counts that follow from their access
// patterns.

#ifndef STRIDEWISE_MATMUL_TEST_MEMORY_CASES_H_
#define STRIDEWISE_MATMUL_TEST_MEMORY_CASES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/base/element_type.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise {

inline constexpr int64_t kMemoryExtent = 128;  // m, n and k.

// The requests of warps of one kind, and what they take.
struct AccessCounts {
  int64_t requests = 0;
  int64_t units = 0;  // Sectors or wavefronts.
};

// A kernel with a block, and its counts in global and in shared memory; without the latter it has
// no shared memory.
struct MemoryCase {
  const char* kernel;
  Block block;
  ElementType type;
  AccessCounts load, store;
  AccessCounts shared_load = {}, shared_store = {};
  int64_t shared_bytes = 0;
};

// Returns all cases, each kernel with the reasons for its counts.
absl::Span<const MemoryCase> MemoryCases();

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_MEMORY_CASES_H_
