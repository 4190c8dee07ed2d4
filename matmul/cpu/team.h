// A packed product on several threads. Columns of C are divided among teams of threads; the threads
// of a team take rows in turn, so that one on a core that other work slows down takes fewer. Each
// packs its own copy of a block of B, which takes less time than writing to lines that other cores
// have read, and fetches the next one while it computes.

#ifndef STRIDEWISE_MATMUL_CPU_TEAM_H_
#define STRIDEWISE_MATMUL_CPU_TEAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/host_product.h"

namespace stridewise {

// What a team has to do: for each block of columns, for each block along k, each chunk of rows.
template <typename T>
class TeamWork {
 public:
  // `blocks.m` is the height of a chunk.
  TeamWork(const HostProduct<T>& product, const CacheBlocks& blocks)
      : product_(product),
        blocks_(blocks),
        chunks_((product.m + blocks.m - 1) / blocks.m),
        steps_((product.k + blocks.k - 1) / blocks.k),
        items_(chunks_ * steps_ * ((product.n + blocks.n - 1) / blocks.n)),
        done_(static_cast<size_t>(chunks_)) {}

  const HostProduct<T>& product() const { return product_; }
  const CacheBlocks& blocks() const { return blocks_; }
  int64_t chunks() const { return chunks_; }
  int64_t steps() const { return steps_; }
  int64_t items() const { return items_; }

  // Returns the next item, chunk + chunks * (step + steps * block of columns), or items() and more.
  int64_t Take() { return next_.fetch_add(1, std::memory_order_relaxed); }

  // Returns how many items nobody has taken.
  int64_t left() const { return items_ - next_.load(std::memory_order_relaxed); }

  // The number of items of a chunk that are finished: a sum goes on where its last part is stored.
  int64_t Done(int64_t chunk) const {
    return done_[static_cast<size_t>(chunk)].load(std::memory_order_acquire);
  }
  void SetDone(int64_t chunk, int64_t items) {
    done_[static_cast<size_t>(chunk)].store(items, std::memory_order_release);
  }

  // Counts threads that work here; returns how many did before.
  int Enter() { return threads_.fetch_add(1, std::memory_order_relaxed); }
  int threads() const { return threads_.load(std::memory_order_relaxed); }

 private:
  HostProduct<T> product_;
  CacheBlocks blocks_;
  int64_t chunks_;
  int64_t steps_;
  int64_t items_;
  std::atomic<int64_t> next_{0};
  std::atomic<int> threads_{0};
  std::vector<std::atomic<int64_t>> done_;
};

// Returns whether one core packs operands of such a product, and the blocks that it then takes.
bool IsPackedOnHost(const HostProduct<float>& product, CacheBlocks* blocks);
bool IsPackedOnHost(const HostProduct<double>& product, CacheBlocks* blocks);

// Takes items until there are no more.
void WorkOnHost(TeamWork<float>* work);
void WorkOnHost(TeamWork<double>* work);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_TEAM_H_
