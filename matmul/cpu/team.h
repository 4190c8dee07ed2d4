// A packed product on several threads. Columns of C are divided among teams of threads; the threads
// of a team take rows in turn, so that one on a core that other work slows down takes fewer. Each
// packs its own copy of a block of B, which takes less time than writing to lines that other cores
// have read, and fetches the next one while it computes.

#ifndef STRIDEWISE_MATMUL_CPU_TEAM_H_
#define STRIDEWISE_MATMUL_CPU_TEAM_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "common/base/half_types.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/host_product.h"

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_write_range(void* address, unsigned long size);  // NOLINT
#endif

namespace stridewise {

// What a team has to do: for each block of columns, for each block along k, each chunk of rows.
template <typename T, typename Out = T>
class TeamWork {
 public:
  // `blocks.m` is the height of a chunk. `sums`, one for each element of C and without gaps, are
  // needed where Out is not the type of sums and there is more than one block along k.
  TeamWork(const HostProduct<T, Out>& product, const CacheBlocks& blocks,
           ScaleOf<T>* sums = nullptr)
      : product_(product),
        blocks_(blocks),
        sums_(sums),
        chunks_((product.m + blocks.m - 1) / blocks.m),
        steps_((product.k + blocks.k - 1) / blocks.k),
        items_(chunks_ * steps_ * ((product.n + blocks.n - 1) / blocks.n)),
        done_(static_cast<size_t>(chunks_)) {}

  const HostProduct<T, Out>& product() const { return product_; }
  const CacheBlocks& blocks() const { return blocks_; }
  ScaleOf<T>* sums() const { return sums_; }
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
  HostProduct<T, Out> product_;
  CacheBlocks blocks_;
  ScaleOf<T>* sums_;
  int64_t chunks_;
  int64_t steps_;
  int64_t items_;
  std::atomic<int64_t> next_{0};
  std::atomic<int> threads_{0};
  std::vector<std::atomic<int64_t>> done_;
};

// Waits for the thread that computes the part of the sums before. It took its item long ago, so
// that waiting is rare, and long only where it has lost its core.
template <typename T, typename Out>
void WaitFor(const TeamWork<T, Out>& work, int64_t chunk, int64_t items) {
  constexpr int kSpins = 1000;
  for (int spins = 0; work.Done(chunk) != items; ++spins) {
    if (spins >= kSpins) std::this_thread::yield();
  }
}

// A chunk's rows, and a block's columns and steps along k.
struct TeamItem {
  int64_t block, row, rows, col, cols, p, k;
};

// Tells ThreadSanitizer that the thread has written the item's part of C: it does not see the
// masked stores of intrinsics, nor those of AMX.
template <typename T, typename Out>
void TellSanitizer(const HostProduct<T, Out>& product, const TeamItem& item) {
#if defined(__SANITIZE_THREAD__)
  for (int64_t i = 0; i < item.rows; ++i) {
    __tsan_write_range(product.c + (item.row + i) * product.ldc + item.col,
                       static_cast<size_t>(item.cols) * sizeof(Out));
  }
#else
  static_cast<void>(product);
  static_cast<void>(item);
#endif
}

// Takes items until there are no more. For each it calls pack(item, whether the thread holds
// another block of B or none), and multiply(item) once the sums before are stored.
template <typename T, typename Out, typename Pack, typename Multiply>
void TakeItems(TeamWork<T, Out>* work, Pack pack, Multiply multiply) {
  const HostProduct<T, Out>& product = work->product();
  const CacheBlocks& blocks = work->blocks();
  int64_t held = -1;
  for (int64_t taken = work->Take(); taken < work->items(); taken = work->Take()) {
    const int64_t chunk = taken % work->chunks();
    TeamItem item;
    item.block = taken / work->chunks();
    item.p = item.block % work->steps() * blocks.k;
    item.col = item.block / work->steps() * blocks.n;
    item.row = chunk * blocks.m;
    item.rows = std::min(blocks.m, product.m - item.row);
    item.k = std::min(blocks.k, product.k - item.p);
    item.cols = std::min(blocks.n, product.n - item.col);
    pack(item, item.block != held);
    held = item.block;
    WaitFor(*work, chunk, item.block);
    multiply(item);
    TellSanitizer(product, item);
    work->SetDone(chunk, item.block + 1);
  }
}

// Returns whether one core packs operands of such a product, and the blocks that it then takes.
bool IsPackedOnHost(const HostProduct<float>& product, CacheBlocks* blocks);
bool IsPackedOnHost(const HostProduct<double>& product, CacheBlocks* blocks);
bool IsPackedOnHost(const HostProduct<Bf16, float>& product, CacheBlocks* blocks);
bool IsPackedOnHost(const HostProduct<Bf16>& product, CacheBlocks* blocks);

// Takes items until there are no more.
void WorkOnHost(TeamWork<float>* work);
void WorkOnHost(TeamWork<double>* work);
void WorkOnHost(TeamWork<Bf16, float>* work);
void WorkOnHost(TeamWork<Bf16>* work);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_TEAM_H_
