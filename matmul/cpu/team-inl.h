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

#include <cstdint>

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
  const Form form = FormOf(product);
  // What one core would read where it lies is packed too, unless it is little: threads that take
  // rows in turn are 1.6 times as fast for 8031x40x2374.
  constexpr int64_t kMinBytes = 128 << 10;
  const bool is_large =
      product.m > kMaxFewRows && product.n * product.k * int64_t{sizeof(T)} > kMinBytes;
  return form == Form::kPacked || form == Form::kStrips || (form == Form::kInPlace && is_large);
}

template <typename T>
void Work(TeamWork<T>* work) {
  const HostProduct<T>& product = work->product();
  const CacheBlocks& blocks = work->blocks();
  const bool packs_a = PacksA(product);
  Multiply<T> multiply(product);
  multiply.UseBuffers(packs_a, blocks);
  typename Multiply<T>::Later later;
  TakeItems(
      work,
      [&](const TeamItem& item, bool is_new_block) {
        if (is_new_block) {
          multiply.PackB(item.p, item.k, item.col, item.cols);
          const int64_t next = item.block + 1;
          later = multiply.LaterBlock(blocks, next % work->steps() * blocks.k,
                                      next / work->steps() * blocks.n);
        }
        if (packs_a) multiply.PackA(item.row, item.rows, item.p, item.k);
      },
      [&](const TeamItem& item) {
        multiply.MultiplyBlock(item.row, item.rows, item.col, item.cols, item.p, item.k, &later);
      });
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_TEAM_INL_H_
