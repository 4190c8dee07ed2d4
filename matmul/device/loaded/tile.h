// The main loop of kernels that copy through registers (register_copy.h).

#ifndef STRIDEWISE_MATMUL_DEVICE_LOADED_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_LOADED_TILE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/accumulators.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/loaded/policies.h"
#include "matmul/device/loaded/register_copy.h"
#include "matmul/device/tile_mma.h"
#include "matmul/device/tile_order.h"

namespace stridewise {

// As ComputeTile() of tile_mma.h, for tiles of policies.h.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__device__ inline void ComputeTile(const Gemm<LoadedFloat32>& gemm, const TilePlace& place,
                                   const StepRange& steps, float* shared,
                                   Accumulators<Tile>& accumulators) {
  static_assert(Tile::kWarpsAlongK == 1, "one slice");
  using CopierA =
      RegisterCopier<kLayoutA, Tile::kBlockM, Tile::kBlockK, Tile::kThreads, Tile::kCopyParts>;
  using CopierB =
      RegisterCopier<kLayoutB, Tile::kBlockN, Tile::kBlockK, Tile::kThreads, Tile::kCopyParts>;
  const int thread = static_cast<int>(threadIdx.x);
  const int first_k = steps.first * Tile::kBlockK;
  Operand<float> operand_a = gemm.a;
  Operand<float> operand_b = gemm.b;
  operand_a.data += place.index * gemm.stride_a;
  operand_b.data += place.index * gemm.stride_b;
  CopierA copy_a(operand_a, place.offset.row, first_k, thread);
  CopierB copy_b(operand_b, place.offset.col, first_k, thread);
  const int extent_m =
      static_cast<int>(min(operand_a.mn - place.offset.row, int64_t{Tile::kBlockM}));
  const int extent_n =
      static_cast<int>(min(operand_b.mn - place.offset.col, int64_t{Tile::kBlockN}));
  int k_left = gemm.k - first_k;
  accumulators.Clear();
  if (steps.count == 0) return;

  constexpr int kParts = Tile::kCopyParts;
  constexpr int kPairs = Tile::kBlockK / 2;
  static_assert(kPairs % kParts == 0, "parts are equal");
  const auto load = [&](auto part) {
    copy_a.template Load<decltype(part)::value>({extent_m, k_left});
    copy_b.template Load<decltype(part)::value>({extent_n, k_left});
    if (decltype(part)::value == kParts - 1) k_left -= Tile::kBlockK;
  };
  const auto store = [&](auto part, int stage) {
    float* const to = shared + stage * Tile::kStageFloats;
    copy_a.template Store<decltype(part)::value>(to);
    copy_b.template Store<decltype(part)::value>(to + Tile::kOffsetOfB);
  };
  int pairs_left = min((k_left + 1) / 2, steps.count * kPairs);
  const auto copy = [&](auto part) {
    load(part);
    store(part, 0);
  };
  ForEachPart<kParts>(copy);
  __syncthreads();

  const ThreadCoord<Tile> coord(thread);
  const float* const a_first = shared + coord.warp_row + coord.lane_row * kVector;
  const float* const b_first =
      shared + Tile::kOffsetOfB + coord.warp_col + coord.lane_col * kVector;
  Fragment<Tile> even;
  Fragment<Tile> odd;
  even.Load(a_first, b_first);
  int stage = 0;
#pragma unroll 1
  for (int step = 1; step <= steps.count; ++step) {
    const float* a = a_first + stage * Tile::kStageFloats;
    const float* b = b_first + stage * Tile::kStageFloats;
    const auto add_part = [&](auto part) {
      constexpr int kPart = decltype(part)::value;
      if (step < steps.count) load(part);
      constexpr int kPairsOfPart = kPairs / kParts;
      const int last = kPart == kParts - 1 ? 1 : 0;
      const int end = min(kPairsOfPart - last, pairs_left - kPart * kPairsOfPart - 1);
#pragma unroll 1
      for (int i = 0; i < end; ++i) {
        odd.Load(a + CopierA::kPitch, b + CopierB::kPitch);
        accumulators.Add(even);
        even.Load(a + 2 * CopierA::kPitch, b + 2 * CopierB::kPitch);
        accumulators.Add(odd);
        a += 2 * CopierA::kPitch;
        b += 2 * CopierB::kPitch;
      }
      // Nobody reads the other stage any more: the step before ended at a barrier.
      if (kPart < kParts - 1 && step < steps.count) store(part, stage ^ 1);
    };
    ForEachPart<kParts>(add_part);
    pairs_left -= kPairs;
    odd.Load(a + CopierA::kPitch, b + CopierB::kPitch);
    accumulators.Add(even);
    if (step < steps.count) {
      stage ^= 1;
      store(Constant<kParts - 1>(), stage);
    }
    __syncthreads();
    even.Load(a_first + stage * Tile::kStageFloats, b_first + stage * Tile::kStageFloats);
    accumulators.Add(odd);
  }
  // No thread reads any more, not even the fragment behind the last.
  __syncthreads();
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_LOADED_TILE_H_
