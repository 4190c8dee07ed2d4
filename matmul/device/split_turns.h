// How a block multiplies parts of different types in turn (split_fp8.h): a stage holds one part of
// both operands, so that twice as many stages are under way as of both parts. kStepsOfTurn stages
// of FP8 are summed, then as many of FP16.
//
// Each turn's sum is promoted by itself: sums of FP8 have 13 fractional bits, and what is added to
// the larger sum of FP16 would lose those that it is there for.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_TURNS_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_TURNS_H_

#include <cuda_fp8.h>

#include <type_traits>

#include "matmul/device/cluster.h"
#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/split_tile.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// Stages of a part between promotions.
constexpr int kStepsOfTurn = 2;

// Starts the copies of one stage. Of B each block of the cluster loads its share for all of them.
template <typename Tile>
__device__ inline void LoadSplitPart(const CUtensorMap& a, const CUtensorMap& b,
                                     const SplitGemm& gemm, const TensorShared<Tile>& shared,
                                     int stage, int row, int col, int k, int batch, uint32_t rank) {
  static_assert(Tile::kPartsKMajor);
  constexpr int kShare = Tile::kBlockN / Tile::kCluster;
  const int first = static_cast<int>(rank) * kShare;
  const uint32_t to_b = shared.B(stage) + first * Tile::kRowBytes;
  Mbarrier& full = shared.Full(stage);
  CopyBox(a, k, row, batch * gemm.a_moves, shared.A(stage), full);
  if constexpr (Tile::kCluster == 1) {
    CopyBox(b, k, col, batch * gemm.b_moves, to_b, full);
  } else {
    CopyBoxTo((1 << Tile::kCluster) - 1, b, k, col + first, batch * gemm.b_moves, to_b, full);
  }
}

// Loads a tile's stages: beyond k zeros, to the end of the last turn.
template <typename Tile>
__device__ inline void ProduceTurns(const SplitMaps<typename Tile::Scheme>& a,
                                    const SplitMaps<typename Tile::Scheme>& b,
                                    const SplitGemm& gemm, const TensorShared<Tile>& shared,
                                    int row, int col, int batch, uint32_t rank,
                                    PipelineState<Tile::kStages>* state) {
#pragma unroll 1
  for (int first = 0; first < gemm.k; first += kStepsOfTurn * Tile::kBlockK) {
#pragma unroll
    for (int part = 1; part >= 0; --part) {
#pragma unroll
      for (int step = 0; step < kStepsOfTurn; ++step) {
        shared.Empty(state->stage).Wait(state->phase ^ 1);
        shared.Full(state->stage).ArriveExpecting(Tile::kStageBytes);
        LoadSplitPart(a.part[part], b.part[part], gemm, shared, state->stage, row, col,
                      first + step * Tile::kBlockK, batch, rank);
        state->Advance();
      }
    }
  }
}

// Multiplies a stage of a part: of FP16 numbers, or of twice as many of FP8.
template <typename Tile, int kPart>
__device__ inline void MultiplyTurn(const SplitDescriptors& of, bool accumulate,
                                    float (&d)[Tile::kBlockN / 2]) {
  using Element = std::conditional_t<kPart == 0, typename Tile::Element, __nv_fp8_e4m3>;
  using Mma = Wgmma<Element, Tile::kBlockN, OperandLayout::kKMajor, OperandLayout::kKMajor>;
  constexpr uint64_t kStep = DescriptorStep<OperandLayout::kKMajor, Element>();
#pragma unroll
  for (int i = 0; i < Tile::kRowBytes / 32; ++i) {
    Mma::Multiply(of.a + i * kStep, of.b + i * kStep, i > 0 || accumulate, d);
  }
}

// Sums a tile's products. While a consumer waits for the end of its turn, the other one's products
// run.
template <typename Tile>
__device__ inline void SumTurns(const SplitGemm& gemm, const TensorShared<Tile>& shared,
                                int consumer, int lane, PipelineState<Tile::kStages>* state,
                                float (&sums)[Tile::kBlockN / 2]) {
  // Accumulators of its own for each part: of a tile of 128 columns the compiler spilled 136 bytes
  // a thread, and results were wrong on an H200.
  static_assert(!Tile::kSeparate);
  float d[Tile::kBlockN / 2];
#pragma unroll
  for (float& sum : sums) sum = 0;
  const auto take_turn = [&](auto part) {
    int previous = -1;
#pragma unroll
    for (int step = 0; step < kStepsOfTurn; ++step) {
      shared.Full(state->stage).Wait(state->phase);
      FenceWgmma();
      MultiplyTurn<Tile, decltype(part)::value>(DescriptorsOf(shared, state->stage, consumer),
                                                step > 0, d);
      CommitWgmma();
      WaitForWgmma<1>();  // For all of the stage before.
      if (previous >= 0) ReleaseStage(shared, previous, lane);
      previous = state->stage;
      state->Advance();
    }
    WaitForWgmma<0>();
    ReleaseStage(shared, previous, lane);
    AddTo(sums, d);
  };
#pragma unroll 1
  for (int first = 0; first < gemm.k; first += kStepsOfTurn * Tile::kBlockK) {
    take_turn(std::integral_constant<int, 1>());
    take_turn(std::integral_constant<int, 0>());
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_TURNS_H_
