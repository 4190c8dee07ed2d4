// The main loop: multiplies a tile's part of op(A) by its part of op(B), k step by k step, into the
// accumulators of a block.
//
// What bounds it is the issue of instructions: each of a multiprocessor's four schedulers issues
// one a clock, and at best that is an fma. A thread with 8 x 16 accumulators has 128 fma for each
// k, 6 loads from shared memory and, with all else, 6 more instructions: 91 % are fma. To use the
// rest of the clocks:
//
// - Fragments are double buffered: while one is multiplied the next one is loaded from shared
//   memory. Tiles are kStages deep: a copy from global memory has the time of kStages - 1 tiles to
//   arrive.
// - A register file has two banks, even and odd registers, of one read a clock each, and an fma
//   reads three registers. A's serves a row of fma and is kept (.reuse); of the other two one
//   should be even and one odd. B's are loaded as vectors, so that column c is in a register of c's
//   parity; accumulators.h makes the accumulator of column c lie in one of the other parity.
//   Without that the same loop is 5 % slower.
// - From one row of fma to the next the columns run in the opposite direction, so that B's register
//   is kept where they turn.
// - Where steps are of 16 k the last one ends behind the last pair of k that there is: 4 % faster
//   in the geometric mean of 50 products with k of 17 to 500, 17 % at 22.
// - The loop's body is two k. Unrolled further, the compiler mixes fma of different rows, which
//   costs .reuse and so reads: 6 % with four.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_MMA_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_MMA_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "matmul/device/accumulators.h"
#include "matmul/device/block_tile.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/tile_copy.h"
#include "matmul/device/tile_order.h"

namespace stridewise {

template <int kValue>
using Constant = std::integral_constant<int, kValue>;

// Calls fn(Constant<0>()) to fn(Constant<kParts - 1>()).
template <int kParts, int kFirst = 0, typename Fn>
__device__ inline void ForEachPart(Fn& fn) {
  if constexpr (kFirst < kParts) {
    fn(Constant<kFirst>());
    ForEachPart<kParts, kFirst + 1>(fn);
  }
}

// What lies in the operands from a tile's first row, column and k on.
struct ProductExtent {
  int m;
  int n;
  int k;
};

// When the copies of a stage are started, while another one is multiplied: a long row of copies
// fills the queue of the load/store unit, and loads from shared memory wait behind them. Those of a
// K-major operand, of 4 bytes, may roll: a few go with each pair of k. Others are in kParts parts.
template <int kOfParts, bool kARolls = false, bool kBRolls = false>
struct CopyOrder {
  static constexpr int kParts = kOfParts;
  static constexpr bool kRollsA = kARolls, kRollsB = kBRolls;
  static_assert(kParts == 1 || !(kARolls || kBRolls), "what does not roll is one part");
};

// A thread's copies of the stages of one tile. `shared` as for MultiplyTiles().
template <typename Tile, typename Order, typename CopierA, typename CopierB>
struct StageCopies {
  CopierA& a;
  CopierB& b;
  const ProductExtent& extent;
  float* shared;
  int thread;
  int steps;
  int whole_steps;
  bool inside;  // Whether the tile lies in C.

  // Starts part kPart of kParts of the copies of k step `step` to `stage`, if there is such a step.
  template <int kPart, int kParts>
  __device__ void Start(int step, int stage) {
    float* const to = shared + stage * Tile::kStageFloats;
    if (inside && step < whole_steps) {
      a.template CopyInside<kPart, kParts>(to, thread);
      b.template CopyInside<kPart, kParts>(to + Tile::kOffsetOfB, thread);
    } else if (kPart == 0 && step < steps) {
      const int k = extent.k - step * Tile::kBlockK;
      a.CopyEdge(to, thread, {extent.m, k});
      b.CopyEdge(to + Tile::kOffsetOfB, thread, {extent.n, k});
    }
  }

  // Begins the copies of k step `step` to `stage` and returns true, or returns false if they do not
  // roll. What rolls leaves elements outside of C as they are: each stage is started once before.
  __device__ bool Begin(int step, int stage) {
    if (!Order::kRollsA && !Order::kRollsB) return false;
    const bool rolls = step >= Tile::kStages && step < whole_steps;
    float* const to = shared + stage * Tile::kStageFloats;
    BeginOperand<Order::kRollsA>(a, rolls, to, extent.m);
    BeginOperand<Order::kRollsB>(b, rolls, to + Tile::kOffsetOfB, extent.n);
    return rolls;
  }
  template <bool kRolls, typename Copier>
  __device__ void BeginOperand(Copier& copier, bool rolls, float* to, int extent_mn) {
    if (!rolls) {
      copier.RollNothing();
    } else if constexpr (kRolls) {
      copier.template BeginRolling<Tile::kSliceK / 2>(to, thread, extent_mn);
    } else if (inside) {
      copier.template CopyInside<0, 1>(to, thread);
    } else {
      copier.CopyEdge(to, thread, {extent_mn, Tile::kBlockK});
    }
  }

  // Starts what rolls with one pair of kPairs.
  template <int kPairs>
  __device__ void Roll() {
    if constexpr (Order::kRollsA) a.template Roll<kPairs>();
    if constexpr (Order::kRollsB) b.template Roll<kPairs>();
  }
};

// Adds the products of the tiles that copy_a and copy_b copy in `steps` k steps. `shared` has
// kSharedFloats, which belong to the block alone from the call's begin to its end.
template <typename Tile, typename Order, typename CopierA, typename CopierB>
__device__ inline void MultiplyTiles(CopierA& copy_a, CopierB& copy_b, int steps,
                                     const ProductExtent& extent, float* shared, int thread,
                                     Accumulators<Tile>& accumulators) {
  const ThreadCoord<Tile> coord(thread);
  const int first_k = coord.slice * Tile::kSliceK;
  const float* const a_first =
      shared + first_k * CopierA::kPitch + coord.warp_row + coord.lane_row * kVector;
  const float* const b_first = shared + Tile::kOffsetOfB + first_k * CopierB::kPitch +
                               coord.warp_col + coord.lane_col * kVector;
  // Slices are parts of one step, and whole. Longer steps are those of tiles for long k.
  constexpr bool kEndsEarly = Tile::kWarpsAlongK == 1 && Tile::kBlockK == 16;
  int pairs_left = min((extent.k + 1) / 2, steps * (Tile::kSliceK / 2));
  StageCopies<Tile, Order, CopierA, CopierB> copies = {
      copy_a,
      copy_b,
      extent,
      shared,
      thread,
      steps,
      min(extent.k / Tile::kBlockK, steps),
      extent.m >= Tile::kBlockM && extent.n >= Tile::kBlockN};
  int write_stage = 0;
  // One group of copies a stage, empty or not, so that waiting for all but the last kStages - 2
  // groups is waiting for the next stage.
  const auto next_stage = [](int stage) { return stage == Tile::kStages - 1 ? 0 : stage + 1; };
  for (; write_stage < Tile::kStages - 1; ++write_stage) {
    copies.template Start<0, 1>(write_stage, write_stage);
    __pipeline_commit();
  }
  __pipeline_wait_prior(Tile::kStages - 2);
  __syncthreads();

  Fragment<Tile> even;
  Fragment<Tile> odd;
  even.Load(a_first, b_first);
  int read_stage = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const float* a = a_first + read_stage * Tile::kStageFloats;
    const float* b = b_first + read_stage * Tile::kStageFloats;
    constexpr int kPairs = Tile::kSliceK / 2;
    const int copied_step = step + Tile::kStages - 1;
    const bool rolls = copies.Begin(copied_step, write_stage);
    const auto add_pairs = [&](auto part) {
      constexpr int kParts = Order::kParts;
      constexpr int kPart = decltype(part)::value;
      if (!rolls) copies.template Start<kPart, kParts>(copied_step, write_stage);
      constexpr int kEnd = (kPairs - 1) * (kPart + 1) / kParts;
      const int end = kEndsEarly ? min(kEnd, pairs_left - 1) : kEnd;
#pragma unroll 1
      for (int i = (kPairs - 1) * kPart / kParts; i < end; ++i) {
        odd.Load(a + CopierA::kPitch, b + CopierB::kPitch);
        copies.template Roll<kPairs>();
        accumulators.Add(even);
        even.Load(a + 2 * CopierA::kPitch, b + 2 * CopierB::kPitch);
        accumulators.Add(odd);
        a += 2 * CopierA::kPitch;
        b += 2 * CopierB::kPitch;
      }
    };
    ForEachPart<Order::kParts>(add_pairs);
    pairs_left -= kPairs;
    copies.template Roll<kPairs>();
    __pipeline_commit();
    write_stage = next_stage(write_stage);
    odd.Load(a + CopierA::kPitch, b + CopierB::kPitch);
    accumulators.Add(even);
    // The last fragment of this stage is in registers: the stage may be written, the next one read.
    __pipeline_wait_prior(Tile::kStages - 2);
    __syncthreads();
    // After the last step the same stage again: there must be something to read.
    if (step + 1 < steps) read_stage = next_stage(read_stage);
    even.Load(a_first + read_stage * Tile::kStageFloats, b_first + read_stage * Tile::kStageFloats);
    accumulators.Add(odd);
  }
  // No thread reads any more, not even the fragment behind the last.
  __syncthreads();
}

// The k steps first to first + count - 1 of a tile, of kBlockK each.
struct StepRange {
  int first;
  int count;
};

// Sets the accumulators of each slice to its part of the tile at `place` over `steps`. `shared` as
// for MultiplyTiles().
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__device__ inline void ComputeTile(const Gemm<typename Tile::Types>& gemm, const TilePlace& place,
                                   const StepRange& steps, float* shared,
                                   Accumulators<Tile>& accumulators) {
  using A = typename Tile::Types::A;
  using B = typename Tile::Types::B;
  const int thread = static_cast<int>(threadIdx.x);
  const int first_k = steps.first * Tile::kBlockK;
  Operand<A> a = gemm.a;
  Operand<B> b = gemm.b;
  const TileOffset& offset = place.offset;
  a.data += place.index * gemm.stride_a;
  b.data += place.index * gemm.stride_b;
  TileCopier<A, kLayoutA, Tile::kBlockM, Tile::kBlockK, Tile::kThreads> copy_a(a, offset.row,
                                                                               first_k, thread);
  TileCopier<B, kLayoutB, Tile::kBlockN, Tile::kBlockK, Tile::kThreads> copy_b(b, offset.col,
                                                                               first_k, thread);
  const ProductExtent extent = {static_cast<int>(min(a.mn - offset.row, int64_t{Tile::kBlockM})),
                                static_cast<int>(min(b.mn - offset.col, int64_t{Tile::kBlockN})),
                                gemm.k - first_k};
  accumulators.Clear();
  if (steps.count == 0) return;
  constexpr bool kAKMajor = kLayoutA == OperandLayout::kKMajor;
  constexpr bool kBKMajor = kLayoutB == OperandLayout::kKMajor;
  const auto multiply = [&](auto order) {
    MultiplyTiles<Tile, decltype(order)>(copy_a, copy_b, steps.count, extent, shared, thread,
                                         accumulators);
  };
  if constexpr (kAKMajor || kBKMajor) {
    constexpr RollingSteps kRolling = Tile::kRolling;
    constexpr int kLeast = !kBKMajor ? kRolling.a : !kAKMajor ? kRolling.b : kRolling.both;
    if (kLeast > 0 && steps.count >= kLeast) return multiply(CopyOrder<1, kAKMajor, kBKMajor>());
  }
  // Where B's copies are of 16 bytes they are few: one part, as measured with the large tile at
  // n = 4096.
  constexpr int kParts = Tile::kWarpsAlongK > 1 ? 1 : kAKMajor && kBKMajor ? 4 : 2;
  if (kParts > 1 && !copy_b.CopiesElements()) {
    multiply(CopyOrder<1>());
  } else {
    multiply(CopyOrder<kParts>());
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_MMA_H_
