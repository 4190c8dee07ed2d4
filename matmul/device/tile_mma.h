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

// Adds the products of the tiles that copy_a and copy_b copy in `steps` k steps. `shared` has
// kSharedFloats, which belong to the block alone from the call's begin to its end.
//
// A stage's copies are started in kParts parts, spread over the multiplication of another stage: a
// long row of copies fills the queue of the load/store unit, and loads from shared memory wait
// behind them.
template <typename Tile, int kParts, typename CopierA, typename CopierB>
__device__ inline void MultiplyTiles(CopierA& copy_a, CopierB& copy_b, int steps,
                                     const ProductExtent& extent, float* shared, int thread,
                                     Accumulators<Tile>& accumulators) {
  const ThreadCoord<Tile> coord(thread);
  const int first_k = coord.slice * Tile::kSliceK;
  const float* const a_first =
      shared + first_k * CopierA::kPitch + coord.warp_row + coord.lane_row * kVector;
  const float* const b_first = shared + Tile::kOffsetOfB + first_k * CopierB::kPitch +
                               coord.warp_col + coord.lane_col * kVector;
  const int inside_steps = extent.m >= Tile::kBlockM && extent.n >= Tile::kBlockN
                               ? min(extent.k / Tile::kBlockK, steps)
                               : 0;
  // Slices are parts of one step, and whole. Longer steps are those of tiles for long k.
  constexpr bool kEndsEarly = Tile::kWarpsAlongK == 1 && Tile::kBlockK == 16;
  int pairs_left = min((extent.k + 1) / 2, steps * (Tile::kSliceK / 2));
  int write_stage = 0;
  const auto copy_part = [&](int step, auto part, auto parts) {
    float* const a = shared + write_stage * Tile::kStageFloats;
    if (step < inside_steps) {
      copy_a.template CopyInside<decltype(part)::value, decltype(parts)::value>(a, thread);
      copy_b.template CopyInside<decltype(part)::value, decltype(parts)::value>(
          a + Tile::kOffsetOfB, thread);
    } else if (decltype(part)::value == 0 && step < steps) {
      const int k = extent.k - step * Tile::kBlockK;
      copy_a.CopyEdge(a, thread, {extent.m, k});
      copy_b.CopyEdge(a + Tile::kOffsetOfB, thread, {extent.n, k});
    }
  };
  // One group of copies a stage, empty or not, so that waiting for all but the last kStages - 2
  // groups is waiting for the next stage.
  const auto next_stage = [](int stage) { return stage == Tile::kStages - 1 ? 0 : stage + 1; };
  for (; write_stage < Tile::kStages - 1; ++write_stage) {
    copy_part(write_stage, Constant<0>(), Constant<1>());
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
    const auto add_pairs = [&](auto part) {
      constexpr int kPairs = Tile::kSliceK / 2 - 1;
      constexpr int kPart = decltype(part)::value;
      copy_part(step + Tile::kStages - 1, part, Constant<kParts>());
      constexpr int kEnd = kPairs * (kPart + 1) / kParts;
      const int end = kEndsEarly ? min(kEnd, pairs_left - 1) : kEnd;
#pragma unroll 1
      for (int i = kPairs * kPart / kParts; i < end; ++i) {
        odd.Load(a + CopierA::kPitch, b + CopierB::kPitch);
        accumulators.Add(even);
        even.Load(a + 2 * CopierA::kPitch, b + 2 * CopierB::kPitch);
        accumulators.Add(odd);
        a += 2 * CopierA::kPitch;
        b += 2 * CopierB::kPitch;
      }
    };
    ForEachPart<kParts>(add_pairs);
    pairs_left -= Tile::kSliceK / 2;
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

// Sets the accumulators of each slice to its part of the tile at `offset` over `steps`, for
// multiplication `index` of the batch. `shared` as for MultiplyTiles().
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__device__ inline void ComputeTile(const Gemm<typename Tile::Types>& gemm, int64_t index,
                                   const TileOffset& offset, const StepRange& steps, float* shared,
                                   Accumulators<Tile>& accumulators) {
  using A = typename Tile::Types::A;
  using B = typename Tile::Types::B;
  const int thread = static_cast<int>(threadIdx.x);
  const int first_k = steps.first * Tile::kBlockK;
  Operand<A> a = gemm.a;
  Operand<B> b = gemm.b;
  a.data += index * gemm.stride_a;
  b.data += index * gemm.stride_b;
  TileCopier<A, kLayoutA, Tile::kBlockM, Tile::kBlockK, Tile::kThreads> copy_a(a, offset.row,
                                                                               first_k, thread);
  TileCopier<B, kLayoutB, Tile::kBlockN, Tile::kBlockK, Tile::kThreads> copy_b(b, offset.col,
                                                                               first_k, thread);
  const ProductExtent extent = {static_cast<int>(min(a.mn - offset.row, int64_t{Tile::kBlockM})),
                                static_cast<int>(min(b.mn - offset.col, int64_t{Tile::kBlockN})),
                                gemm.k - first_k};
  accumulators.Clear();
  if (steps.count == 0) return;
  // Where B's copies are of 16 bytes they are few: one part, as measured with the large tile at
  // n = 4096.
  constexpr bool kBothKMajor =
      kLayoutA == OperandLayout::kKMajor && kLayoutB == OperandLayout::kKMajor;
  constexpr int kParts = Tile::kWarpsAlongK > 1 ? 1 : kBothKMajor ? 4 : 2;
  if (kParts > 1 && kLayoutB == OperandLayout::kMnMajor && b.vectors) {
    MultiplyTiles<Tile, 1>(copy_a, copy_b, steps.count, extent, shared, thread, accumulators);
  } else {
    MultiplyTiles<Tile, kParts>(copy_a, copy_b, steps.count, extent, shared, thread, accumulators);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_MMA_H_
