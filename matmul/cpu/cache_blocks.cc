#include "matmul/cpu/cache_blocks.h"

#include <unistd.h>

#include <algorithm>

namespace stridewise {
namespace {

// A block of A that all blocks of B are multiplied with; packing B once more for the next costs a
// pass over memory, so that more is better until it leaves the last-level cache.
constexpr int64_t kMaxBlockOfA = 8 << 20;

int64_t Ask(int name, int64_t smallest) {
  return std::max(static_cast<int64_t>(sysconf(name)), smallest);
}

CacheSizes AskSystem() {
  CacheSizes sizes;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  sizes.l1 = Ask(_SC_LEVEL1_DCACHE_SIZE, sizes.l1);
  sizes.l2 = Ask(_SC_LEVEL2_CACHE_SIZE, sizes.l2);
#endif
  return sizes;
}

}  // namespace

const CacheSizes& HostCacheSizes() {
  static const CacheSizes sizes = AskSystem();
  return sizes;
}

int64_t EqualParts(int64_t extent, int64_t most, int64_t unit) {
  const int64_t parts = std::max<int64_t>((extent + most - 1) / most, 1);
  const int64_t part = (extent + parts - 1) / parts;
  return std::max((part + unit - 1) / unit * unit, unit);
}

CacheBlocks ChooseCacheBlocks(const CacheSizes& caches, int64_t element_bytes, int64_t rows,
                              int64_t cols) {
  CacheBlocks blocks;
  blocks.k = std::max<int64_t>(caches.l1 / 3 / (rows * element_bytes) / 64 * 64, 64);
  blocks.n = std::max<int64_t>(caches.l2 / 3 / (blocks.k * element_bytes) / cols * cols, cols);
  blocks.m = std::max<int64_t>(kMaxBlockOfA / (blocks.k * element_bytes) / rows * rows, rows);
  return blocks;
}

}  // namespace stridewise
