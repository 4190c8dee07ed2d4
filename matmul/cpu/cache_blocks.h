// How large the blocks are that a packed product keeps in each cache.

#ifndef STRIDEWISE_MATMUL_CPU_CACHE_BLOCKS_H_
#define STRIDEWISE_MATMUL_CPU_CACHE_BLOCKS_H_

#include <cstdint>

#include "matmul/cpu/host_product.h"

namespace stridewise {

// Data caches of one core, in bytes.
struct CacheSizes {
  int64_t l1 = 32 << 10;
  int64_t l2 = 256 << 10;
};

// Returns the sizes that the system reports, asked once; the smallest that are common where it does
// not.
const CacheSizes& HostCacheSizes();

// Returns the blocks for elements of `element_bytes` and tiles of rows x cols: a panel of A takes
// a third of L1, which B streams through, a block of B a third of L2, which panels of A and
// tiles of C pass through. Two threads of a core may have to share either.
CacheBlocks ChooseCacheBlocks(const CacheSizes& caches, int64_t element_bytes, int64_t rows,
                              int64_t cols);

// Returns the extent of equal parts, each a multiple of `unit`, that cut `extent` into the fewest
// parts of at most `most`.
int64_t EqualParts(int64_t extent, int64_t most, int64_t unit);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_CACHE_BLOCKS_H_
