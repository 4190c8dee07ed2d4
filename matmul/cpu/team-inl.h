// What a thread of a team does (team.h).
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_TEAM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_TEAM_INL_H_
#undef STRIDEWISE_MATMUL_CPU_TEAM_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_TEAM_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <thread>

#include "hwy/highway.h"
#include "matmul/cpu/multiply-inl.h"
#include "matmul/cpu/packed-inl.h"
#include "matmul/cpu/team.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

template <typename T>
bool IsPacked(const HostProduct<T>& product, CacheBlocks* blocks) {
  *blocks = BlocksOf(product);
  return FormOf(product) == Form::kPacked;
}

// Waits for the thread that computes the part of the sums before. It took its item long ago, so
// that waiting is rare, and long only where it has lost its core.
template <typename T>
void WaitFor(const TeamWork<T>& work, int64_t chunk, int64_t items) {
  constexpr int kSpins = 1000;
  for (int spins = 0; work.Done(chunk) != items; ++spins) {
    if (spins >= kSpins) std::this_thread::yield();
  }
}

template <typename T>
void Work(TeamWork<T>* work) {
  const HostProduct<T>& product = work->product();
  const CacheBlocks& blocks = work->blocks();
  Multiply<T> multiply(product);
  multiply.UseBuffers(PacksA(product), blocks);
  typename Multiply<T>::Later later;
  int64_t held = -1;
  for (int64_t item = work->Take(); item < work->items(); item = work->Take()) {
    const int64_t chunk = item % work->chunks();
    const int64_t block = item / work->chunks();
    const int64_t p = block % work->steps() * blocks.k;
    const int64_t col = block / work->steps() * blocks.n;
    const int64_t row = chunk * blocks.m;
    const int64_t rows = std::min(blocks.m, product.m - row);
    const int64_t k = std::min(blocks.k, product.k - p);
    const int64_t cols = std::min(blocks.n, product.n - col);
    if (block != held) {
      multiply.PackB(p, k, col, cols);
      const int64_t next = block + 1;
      later = multiply.LaterBlock(blocks, next % work->steps() * blocks.k,
                                  next / work->steps() * blocks.n);
      held = block;
    }
    if (PacksA(product)) multiply.PackA(row, rows, p, k);
    WaitFor(*work, chunk, block);
    multiply.MultiplyBlock(row, rows, col, cols, p, k, &later);
    work->SetDone(chunk, block + 1);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_TEAM_INL_H_
