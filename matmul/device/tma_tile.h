// A thread's part of a tile of any layout that the TMA loads, for library/tma_tile.sm90.cu: neither
// copies of 4 bytes nor packing. Rows must begin at multiples of 16 bytes.
//
// Operands arrive as they lie in memory (quarter_maps.h). A thread takes four k at a time, a quad:
// of an operand with a row for each k it loads four neighbours of each of the four rows, of a
// K-major one the same four k of four neighbouring rows. Both are four loads of 16 bytes for a
// block of 4 x 4 elements. In shared memory the pieces of 16 bytes of a K-major tile are exchanged
// by the TMA (CU_TENSOR_MAP_SWIZZLE_128B), so that lanes, which have neighbouring rows of one
// quarter, read different banks.
//
// There is no producer warp: with 128 threads to a block and two blocks on a multiprocessor a
// thread may have 255 registers. In the middle of a step one thread starts the copies into the
// stage of the step before, which all warps have read by then.

#ifndef STRIDEWISE_MATMUL_DEVICE_TMA_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_TMA_TILE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/accumulators.h"
#include "matmul/device/block_tile.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/quad_reader.h"
#include "matmul/device/quarter_maps.h"
#include "matmul/device/tile_mma.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/vector_access.h"

namespace stridewise {
// The stages are not padded.
template <typename Policy>
struct TmaTile : BlockTile<Policy> {
  using Base = BlockTile<Policy>;
  static constexpr int kBytesOfA = Base::kBlockK * Base::kBlockM * int{sizeof(float)};
  static constexpr int kBytesOfB = Base::kBlockK * Base::kBlockN * int{sizeof(float)};
  static constexpr int kStageBytes = kBytesOfA + kBytesOfB;
  static constexpr int kDataBytes =
      Larger(Base::kStages * kStageBytes,
             Larger(Base::kOutFloats, Base::kSliceFloats) * int{sizeof(float)});
  // The barriers stand behind, and the beginning is moved to a multiple of 1024.
  static constexpr int kSharedBytes = 1024 + kDataBytes + 2 * Base::kStages * int{sizeof(Mbarrier)};
  static constexpr int kQuads = Base::kSliceK / kVector;  // Of a thread, in a step.

  static_assert(Base::kBlockK == kWarpSize, "a row of a K-major tile has 128 bytes");
  static_assert(kQuads >= 2, "copies are started in the middle");
  static_assert((kSharedBytes + 1024) * Base::kBlocksPerMultiprocessor <= 228 * 1024,
                "more shared memory than there is");
};

// Starts the copies of both operands' tiles for the k step from `k` on.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__device__ inline void LoadStage(const QuarterMaps& a, const QuarterMaps& b,
                                 const TileOffset& offset, int k, int index_a, int index_b,
                                 uint32_t stage, Mbarrier& full) {
  using Readers = QuadReaders<Tile, kLayoutA, kLayoutB>;
  const auto row = static_cast<int>(offset.row);
  const auto col = static_cast<int>(offset.col);
  constexpr bool kKMajorA = kLayoutA == OperandLayout::kKMajor;
  constexpr bool kKMajorB = kLayoutB == OperandLayout::kKMajor;
  full.ArriveExpecting(Tile::kStageBytes);
  CopyQuarters(a, kKMajorA ? row : k, kKMajorA ? k : row, index_a, stage,
               Readers::ReaderA::kQuarterBytes, full);
  CopyQuarters(b, kKMajorB ? col : k, kKMajorB ? k : col, index_b, stage + Tile::kBytesOfA,
               Readers::ReaderB::kQuarterBytes, full);
}

// The operands of a launch, as the TMA loads them.
struct TmaOperands {
  QuarterMaps a, b;
  bool a_differ, b_differ;  // From one multiplication of a batch to the next.
};

// A thread of a block of these kernels.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
class TmaThread {
 public:
  using Readers = QuadReaders<Tile, kLayoutA, kLayoutB>;

  // Initialises the block's pipeline. `unaligned` is the block's dynamic shared memory.
  __device__ explicit TmaThread(char* unaligned)
      : thread_(static_cast<int>(threadIdx.x)),
        first_a_(FirstA(thread_)),
        first_b_(FirstB(thread_)) {
    constexpr uint32_t kAlignment = 1024;  // Of the pieces that the TMA exchanges.
    const uint32_t past = SharedAddress(unaligned) % kAlignment;
    char* const shared = unaligned + (past == 0 ? 0 : kAlignment - past);
    out_ = reinterpret_cast<float*>(shared);
    stages_ = SharedAddress(shared);
    auto* const barriers = reinterpret_cast<Mbarrier*>(shared + Tile::kDataBytes);
    full_ = barriers;
    empty_ = barriers + Tile::kStages;
    if (thread_ == 0) {
      for (int i = 0; i < Tile::kStages; ++i) {
        full_[i].Init(1);
        empty_[i].Init(Tile::kThreads / kWarpSize);
      }
      Mbarrier::InitDone();
    }
    __syncthreads();
  }

  // Returns shared memory for what follows a multiplication, as StoreTile() needs it.
  __device__ float* out() const { return out_; }

  // Sets the accumulators to the products of a tile over these k steps. Afterwards the shared
  // memory of all stages is free. Between two calls are FenceForTma() and a barrier.
  __device__ void Multiply(const TmaOperands& operands, const TileOffset& offset, int index,
                           const StepRange& steps, Accumulators<Tile>& accumulators) {
    const auto load = [&](int step, const State& to) {
      LoadStage<Tile, kLayoutA, kLayoutB>(
          operands.a, operands.b, offset, (steps.first + step) * Tile::kBlockK,
          operands.a_differ ? index : 0, operands.b_differ ? index : 0,
          stages_ + to.stage * Tile::kStageBytes, full_[to.stage]);
    };
    if (thread_ == 0) {
      State to = state_;
#pragma unroll 1
      for (int step = 0; step < min(steps.count, Tile::kStages); ++step) {
        load(step, to);
        to.Advance();
      }
    }
    accumulators.Clear();
#pragma unroll 1
    for (int step = 0; step < steps.count; ++step) {
      const uint32_t stage = stages_ + state_.stage * Tile::kStageBytes;
      full_[state_.stage].Wait(state_.phase);
      auto a = first_a_;
      auto b = first_b_;
#pragma unroll 1
      for (int quad = 0; quad < Tile::kQuads; ++quad) {
        Readers::Multiply(a, b, stage, accumulators);
        a.Advance();
        b.Advance();
        if (quad == 0 && thread_ == 0 && step > 0 && step - 1 + Tile::kStages < steps.count) {
          const State before = StepBefore();
          empty_[before.stage].Wait(before.phase);
          load(step - 1 + Tile::kStages, before);
        }
      }
      __syncwarp();
      if (thread_ % kWarpSize == 0) empty_[state_.stage].Arrive();
      state_.Advance();
    }
    __syncthreads();
  }

 private:
  using State = PipelineState<Tile::kStages>;

  // Returns where the pipeline was a step ago.
  __device__ State StepBefore() const {
    return state_.stage > 0 ? State{state_.stage - 1, state_.phase}
                            : State{Tile::kStages - 1, state_.phase ^ 1};
  }
  __device__ static typename Readers::ReaderA FirstA(int thread) {
    const ThreadCoord<Tile> coord(thread);
    return {coord.warp_row + coord.lane_row * kVector, coord.slice * Tile::kQuads};
  }
  __device__ static typename Readers::ReaderB FirstB(int thread) {
    const ThreadCoord<Tile> coord(thread);
    return {coord.warp_col + coord.lane_col * kVector, coord.slice * Tile::kQuads};
  }

  int thread_;
  const typename Readers::ReaderA first_a_;
  const typename Readers::ReaderB first_b_;
  float* out_;
  uint32_t stages_;
  Mbarrier* full_;   // Of each stage: one thread arrives, and all bytes of the stage.
  Mbarrier* empty_;  // Each warp arrives.
  State state_;      // All threads are at the same stage.
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TMA_TILE_H_
