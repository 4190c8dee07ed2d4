// How a consumer of tensor_kernel.h sums the products of a tile.
//
// FP8: tensor cores keep 13 fractional bits of a sum. So the sum of each 128 of k, which are a
// stage, is added to a second set of registers by the CUDA cores, times the factors that A's row
// and B's block of 128 columns have for these 128 of k where there are such. While one consumer
// adds, the other one's multiplications keep the tensor cores busy, or those of the other half of
// its own columns.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_ACCUMULATION_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_ACCUMULATION_H_

#include <type_traits>

#include "matmul/device/tensor_registers.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// Queues the products of the stages of `depth` of k: multiply(stage, accumulate) those of a stage.
// Calls release(stage) when one has been read, and returns the last stage, which has not.
template <typename Tile, typename Multiply, typename Release>
__device__ inline int QueueStages(int depth, const TensorShared<Tile>& shared, Multiply multiply,
                                  Release release, PipelineState<Tile::kStages>* state) {
  int previous = -1;
#pragma unroll 1
  for (int k = 0; k < depth; k += Tile::kBlockK) {
    shared.Full(state->stage).Wait(state->phase);
    FenceWgmma();
    multiply(state->stage, k > 0);
    CommitWgmma();
    WaitForWgmma<1>();  // The stage before has been read.
    if (previous >= 0) release(previous);
    previous = state->stage;
    state->Advance();
  }
  return previous;
}

// Multiplies the stages of `depth` of k; calls release(stage) when one has been read.
template <typename Tile, typename Release, typename Register, int kRegisters>
__device__ inline void SumStages(int depth, const TensorShared<Tile>& shared, int consumer,
                                 Release release, PipelineState<Tile::kStages>* state,
                                 Register (&d)[kRegisters]) {
  const auto multiply = [&](int stage, bool accumulate) {
    MultiplyStage(shared, stage, consumer, accumulate, d);
  };
  const int last = QueueStages(depth, shared, multiply, release, state);
  WaitForWgmma<0>();
  release(last);
}

// The factors of a thread's two rows and of its tile's columns.
template <typename Tile>
class BlockScales {
 public:
  // Blocks of k whose factors are loaded together: a load from the L2 takes longer than one block.
  static constexpr int kAhead = 4;

  __device__ BlockScales(const TensorGemm& gemm, int row, int col)
      : a_(gemm.scales.a + static_cast<int64_t>(row) * gemm.scales.blocks_of_k),
        a_below_(gemm.scales.a + static_cast<int64_t>(row + 8) * gemm.scales.blocks_of_k),
        b_(gemm.scales.b + col / kScaledBlock),
        b_step_(gemm.scales.blocks_of_n),
        blocks_(gemm.scales.blocks_of_k),
        has_a_(gemm.scales.a != nullptr),
        has_b_(gemm.scales.b != nullptr),
        has_row_(row < gemm.m),
        has_row_below_(row + 8 < gemm.m) {
    Load(0);
  }

  // Sets the factors of the rows for kAhead blocks of k, and loads those of the next.
  __device__ void Next(int block, float (&above)[kAhead], float (&below)[kAhead]) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      above[i] = next_a_[i] * next_b_[i];
      below[i] = next_a_below_[i] * next_b_[i];
    }
    Load(block + kAhead);
  }

 private:
  __device__ void Load(int block) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const bool inside = block + i < blocks_;
      next_a_[i] = has_a_ && inside && has_row_ ? __ldg(a_ + block + i) : 1;
      next_a_below_[i] = has_a_ && inside && has_row_below_ ? __ldg(a_below_ + block + i) : 1;
      next_b_[i] = has_b_ && inside ? __ldg(b_ + static_cast<int64_t>(block + i) * b_step_) : 1;
    }
  }

  const float* a_;
  const float* a_below_;
  const float* b_;
  int b_step_, blocks_;
  bool has_a_, has_b_, has_row_, has_row_below_;
  float next_a_[kAhead], next_a_below_[kAhead], next_b_[kAhead];
};

// As SumPromoted(), where there are no factors: half of the columns is added while the other half
// is multiplied, or the first half of the next stage. So it goes for kTogether stages: across the
// end of a loop nvcc 13.0 keeps no multiplication running whose sums are read in it.
template <typename Tile, typename Release>
__device__ inline void SumPromotedHalves(const TensorGemm& gemm, const TensorShared<Tile>& shared,
                                         int consumer, Release release,
                                         PipelineState<Tile::kStages>* state,
                                         float (&total)[Tile::kBlockN / 2]) {
  using Element = typename Tile::Element;
  constexpr OperandLayout kMajor = OperandLayout::kKMajor;
  static_assert(Tile::kMajorA == kMajor && Tile::kMajorB == kMajor);
  constexpr int kColumns = Tile::kBlockN / 2;
  constexpr int kSums = kColumns / 2;
  constexpr int kTogether = 8;
  using Mma = Wgmma<Element, kColumns, kMajor, kMajor>;
  float first[kSums];
  float second[kSums];
#pragma unroll
  for (float& sum : total) sum = 0;
  const auto multiply = [&](int stage, int column, float(&d)[kSums]) {
    const uint64_t a = TileDescriptor<kMajor>(shared.A(stage) + consumer * kMmaRows * kSwizzleBytes,
                                              Tile::kPanelBytes);
    const uint64_t b =
        TileDescriptor<kMajor>(shared.B(stage) + column * kSwizzleBytes, Tile::kPanelBytes);
    FenceWgmma();
#pragma unroll
    for (int i = 0; i < Tile::kBlockK / Tile::kMmaK; ++i) {
      Mma::Multiply(a + i * DescriptorStep<kMajor, Element>(),
                    b + i * DescriptorStep<kMajor, Element>(), i > 0, d);
    }
    CommitWgmma();
  };
  const auto sum = [&](auto stages_together) {
    int previous = 0;
#pragma unroll
    for (int i = 0; i < decltype(stages_together)::value; ++i) {
      const int stage = state->stage;
      shared.Full(stage).Wait(state->phase);
      multiply(stage, 0, first);
      if (i > 0) {
        WaitForWgmma<1>();
        release(previous);
#pragma unroll
        for (int j = 0; j < kSums; ++j) total[kSums + j] += second[j];
      }
      multiply(stage, kColumns, second);
      WaitForWgmma<1>();
#pragma unroll
      for (int j = 0; j < kSums; ++j) total[j] += first[j];
      previous = stage;
      state->Advance();
    }
    WaitForWgmma<0>();
    release(previous);
#pragma unroll
    for (int j = 0; j < kSums; ++j) total[kSums + j] += second[j];
  };
  int k = 0;
#pragma unroll 1
  for (; gemm.k - k > (kTogether - 1) * Tile::kBlockK; k += kTogether * Tile::kBlockK) {
    sum(std::integral_constant<int, kTogether>());
  }
#pragma unroll 1
  for (; k < gemm.k; k += Tile::kBlockK) sum(std::integral_constant<int, 1>());
}

// As SumStages(), for FP8. `row` is the thread's first row and `col` the tile's.
template <typename Tile, typename Release>
__device__ inline void SumPromoted(const TensorGemm& gemm, const TensorShared<Tile>& shared,
                                   int consumer, int row, int col, Release release,
                                   PipelineState<Tile::kStages>* state,
                                   float (&total)[Tile::kBlockN / 2]) {
  float d[Tile::kBlockN / 2];
#pragma unroll
  for (float& sum : total) sum = 0;
  const auto multiply = [&] {
    const int stage = state->stage;
    shared.Full(stage).Wait(state->phase);
    FenceWgmma();
    MultiplyStage(shared, stage, consumer, false, d);
    CommitWgmma();
    WaitForWgmma<0>();
    release(stage);
    state->Advance();
  };
  if (gemm.scales.blocks_of_k == 0) {
#pragma unroll 1
    for (int k = 0; k < gemm.k; k += Tile::kBlockK) {
      multiply();
#pragma unroll
      for (int i = 0; i < Tile::kBlockN / 2; ++i) total[i] += d[i];
    }
    return;
  }
  constexpr int kAhead = BlockScales<Tile>::kAhead;
  BlockScales<Tile> scales(gemm, row, col);
#pragma unroll 1
  for (int block = 0; block < gemm.scales.blocks_of_k; block += kAhead) {
    float above[kAhead];
    float below[kAhead];
    scales.Next(block, above, below);
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      if (block + ahead >= gemm.scales.blocks_of_k) break;
      multiply();
#pragma unroll
      for (int i = 0; i < Tile::kBlockN / 2; ++i) {
        total[i] = fmaf(i / 2 % 2 == 0 ? above[ahead] : below[ahead], d[i], total[i]);
      }
    }
  }
}

// Sums in FP16, for `d` in FP32.
template <typename Tile, typename Release>
__device__ inline void SumInFp16(const TensorGemm& gemm, const TensorShared<Tile>& shared,
                                 int consumer, Release release, PipelineState<Tile::kStages>* state,
                                 float (&d)[Tile::kBlockN / 2]) {
  uint32_t pairs[Tile::kBlockN / 4];
  SumStages(gemm.k, shared, consumer, release, state, pairs);
#pragma unroll
  for (int i = 0; i < Tile::kBlockN / 4; ++i) {
    const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&pairs[i]));
    d[2 * i] = pair.x;
    d[2 * i + 1] = pair.y;
  }
}

// Sums as the tile's type says. `row` is the thread's first row and `col` the tile's.
template <typename Tile, typename Release>
__device__ inline void SumTile(const TensorGemm& gemm, const TensorShared<Tile>& shared,
                               int consumer, [[maybe_unused]] int row, [[maybe_unused]] int col,
                               Release release, PipelineState<Tile::kStages>* state,
                               typename Tile::Accumulator (&d)[Tile::kBlockN / 2]) {
  if constexpr (Tile::kAInRegisters) {
    SumFromRegisters(gemm, shared, consumer, release, state, d);
  } else if constexpr (Tile::kSums == TensorSums::kPromoted && kScaledBlock % Tile::kBlockN != 0) {
    SumPromotedHalves(gemm, shared, consumer, release, state, d);
  } else if constexpr (Tile::kSums == TensorSums::kPromoted) {
    SumPromoted(gemm, shared, consumer, row, col, release, state, d);
  } else if constexpr (Tile::kSums == TensorSums::kFp16) {
    SumInFp16(gemm, shared, consumer, release, state, d);
  } else {
    SumStages(gemm.k, shared, consumer, release, state, d);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_ACCUMULATION_H_
