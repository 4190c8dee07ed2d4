// The persistent kernel of tensor cores: one producer thread keeps a ring of stages full by the
// TMA, two consumer warpgroups multiply them with wgmma, half of a tile each or a tile each in turn
// (tensor_alternate.h), and while a tile is stored the next one's operands arrive.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_KERNEL_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_KERNEL_H_

#include "common/gpu/launch.h"
#include "matmul/device/tensor_accumulation.h"
#include "matmul/device/tensor_add.h"
#include "matmul/device/tensor_alternate.h"
#include "matmul/device/tensor_left_sums.h"
#include "matmul/device/tensor_pieces.h"
#include "matmul/device/tensor_rows.h"
#include "matmul/device/tensor_store.h"
#include "matmul/device/tensor_tile.h"
#include "matmul/device/tensor_turned.h"

namespace stridewise {

// 65536 registers are 168 for each of 384 threads. A consumer has 128 accumulators; with 240
// registers for it the producer's 24 would not be enough.
constexpr int kTensorProducerRegisters = 40;
constexpr int kTensorConsumerRegisters = 232;

// Returns the pieces of the block's cluster.
template <typename Tile, bool kDivides>
__device__ inline TensorPieces<Tile::kBlockK, kDivides> PiecesOf(
    const TensorGemm& gemm, const TensorTileOrder<Tile>& order) {
  const int clusters = static_cast<int>(gridDim.x) / Tile::kCluster;
  return {{gemm.k, order.tiles(), gemm.division.first_tile, clusters},
          static_cast<int>(blockIdx.x) / Tile::kCluster};
}

// Fills the first stages without the help of the cluster's other blocks, which this block need not
// have met then: products in clusters are a microsecond faster. Called by the thread that has
// initialised the barriers.
template <typename Tile, bool kDivides>
__device__ inline void FillStagesAlone(const CUtensorMap& a, const CUtensorMap& b,
                                       const TensorGemm& gemm, const TensorShared<Tile>& shared,
                                       const TensorTileOrder<Tile>& order, uint32_t rank) {
  auto pieces = PiecesOf<Tile, kDivides>(gemm, order);
  TensorPiece piece;
  pieces.Next(&piece);
  const auto coord = order.At(piece.tile);
  const int row = coord.row + static_cast<int>(rank) * Tile::kBlockM;
#pragma unroll 1
  for (int i = 0; i < Tile::kStages && piece.first + i * Tile::kBlockK < piece.last; ++i) {
    shared.Full(i).ArriveExpecting(Tile::kStageBytes);
    LoadStage<Tile, /*kAlone=*/true>(a, b, gemm, shared, i, row, coord.col,
                                     piece.first + i * Tile::kBlockK, coord.batch, rank);
  }
}

// Fills the stages, in a cluster those behind FillStagesAlone()'s.
template <typename Tile, bool kDivides>
__device__ inline void ProduceStages(const CUtensorMap& a, const CUtensorMap& b,
                                     const TensorGemm& gemm, const TensorShared<Tile>& shared,
                                     const TensorTileOrder<Tile>& order, uint32_t rank) {
  PipelineState<Tile::kStages> state;
  int filled = Tile::kCluster > 1 ? Tile::kStages : 0;
  auto pieces = PiecesOf<Tile, kDivides>(gemm, order);
  TensorPiece piece;
#pragma unroll 1
  while (pieces.Next(&piece)) {
    const auto coord = order.At(piece.tile);
    const int row = coord.row + static_cast<int>(rank) * Tile::kBlockM;
    int k = piece.first;
#pragma unroll 1
    for (; filled > 0 && k < piece.last; --filled, k += Tile::kBlockK) state.Advance();
    filled = 0;
#pragma unroll 1
    for (; k < piece.last; k += Tile::kBlockK) {
      shared.Empty(state.stage).Wait(state.phase ^ 1);
      shared.Full(state.stage).ArriveExpecting(Tile::kStageBytes);
      LoadStage(a, b, gemm, shared, state.stage, row, coord.col, k, coord.batch, rank);
      state.Advance();
    }
    if constexpr (kDivides) {
      if (piece.first == 0) continue;
      WaitForSums<Tile>(gemm);
#pragma unroll 1
      for (int part = 0; part < LeftSums<Tile>::kParts; ++part) {
        shared.Empty(state.stage).Wait(state.phase ^ 1);
        LoadSums(gemm, shared, state.stage, part);
        state.Advance();
      }
    }
    filled = 0;
  }
}

// Stores a consumer's 64 rows in the way that C allows.
template <typename Tile>
__device__ inline void StoreTile(const CUtensorMap& c, const TensorGemm& gemm,
                                 const TensorShared<Tile>& shared, int consumer, int thread,
                                 int row, int col, int batch,
                                 const typename Tile::Accumulator (&d)[Tile::kBlockN / 2]) {
  if constexpr (Tile::kAInRegisters) {
    if (gemm.store_by_tma && gemm.c_transposed) {
      StoreTransposed(c, gemm, shared, consumer, thread, row, col, batch, d);
      return;
    }
  }
  if (Tile::kStoresByTma || gemm.store_by_tma) {
    StoreByTma(c, gemm, shared, consumer, thread, row, col, batch, d);
    return;
  }
  if constexpr (!Tile::kStoresByTma) {
    if constexpr (!Tile::kAInRegisters) {
      if (BetaOf<Tile>(gemm) == 0) {
        StoreRows(gemm, shared, consumer, thread, row, col, batch, d);
        return;
      }
    }
    StoreDirectly<Tile>(gemm, thread, row, col, batch, d);
  }
}

// Stores sums as they are, times alpha.
struct StoresSums {
  // What a thread loads before it sums a tile: nothing.
  struct Early {};
  template <typename Tile>
  __device__ Early Load(const TensorGemm& /*gemm*/, int /*thread*/, int /*row*/) const {
    return {};
  }

  template <typename Tile>
  __device__ void operator()(const CUtensorMap& c, const TensorGemm& gemm,
                             const TensorShared<Tile>& shared, int consumer, int thread, int row,
                             int col, int batch,
                             const typename Tile::Accumulator (&d)[Tile::kBlockN / 2],
                             Early /*early*/ = {}) const {
    if constexpr (Tile::kTurned) {
      StoreTurned(c, gemm, shared, consumer, thread, row, col, batch, d);
    } else {
      StoreTile(c, gemm, shared, consumer, thread, row, col, batch, d);
    }
  }
};

// Where kAdds, C is read by the TMA. That is a kernel of its own: a choice at the end of each tile
// made products without it slower by up to two microseconds. Otherwise `store` has a tile's sums.
template <typename Tile, bool kAdds, bool kDivides, typename Store>
__device__ inline void ConsumeStages(const CUtensorMap& c, const TensorGemm& gemm,
                                     const TensorShared<Tile>& shared,
                                     const TensorTileOrder<Tile>& order, uint32_t rank,
                                     int consumer, const Store& store) {
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
  const int lane = thread % 32;
  PipelineState<Tile::kStages> state;
  [[maybe_unused]] uint32_t phases_of_old = 0;
  const auto release = [&](int stage) { ReleaseStage(shared, stage, lane); };
  auto pieces = PiecesOf<Tile, kDivides>(gemm, order);
  TensorPiece piece;
#pragma unroll 1
  while (pieces.Next(&piece)) {
    const auto coord = order.At(piece.tile);
    const int row = coord.row + static_cast<int>(rank) * Tile::kBlockM + consumer * kMmaRows;
    if constexpr (kAdds) {
      if (thread == 0) LoadOldChunks(c, shared, consumer, row, coord.col, coord.batch);
    }
    [[maybe_unused]] const auto early = store.template Load<Tile>(gemm, thread, row);
    typename Tile::Accumulator d[Tile::kBlockN / 2];
    if constexpr (kDivides) {
      SumStages(piece.last - piece.first, shared, consumer, release, &state, d);
      if (piece.last < gemm.k) {
        LeaveSums<Tile>(gemm, consumer, thread, d);
        continue;
      }
      if (piece.first > 0) AddLeftSums(shared, consumer, thread, release, &state, d);
    } else {
      SumTile(gemm, shared, consumer, row + TensorRow<Tile>(thread), coord.col, release, &state, d);
    }
    if constexpr (kAdds) {
      AddByTma(c, gemm, shared, consumer, thread, row, coord.col, coord.batch, d, &phases_of_old);
    } else {
      store(c, gemm, shared, consumer, thread, row, coord.col, coord.batch, d, early);
    }
  }
  if (thread == 0) WaitUntilStoresHaveRead<0>();
}

// Does the work of a block of the kernels.
template <typename Tile, bool kAdds, bool kDivides = false, typename Store>
__device__ inline void MultiplyTensors(const CUtensorMap& a, const CUtensorMap& b,
                                       const CUtensorMap& c, const TensorGemm& gemm,
                                       const Store& store) {
  // 256 threads have enough, and tiles of 512 need no more than all of theirs.
  constexpr bool kMovesRegisters = Tile::kConsumerGroups == kConsumers;
  extern __shared__ char raw[];
  const TensorShared<Tile> shared(raw);
  const uint32_t rank = Tile::kCluster > 1 ? ClusterRank() : 0;
  const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroupThreads;
  const TensorTileOrder<Tile> order(gemm);
  if (threadIdx.x == 0) {
    PrefetchMap(a);
    PrefetchMap(b);
    for (int i = 0; i < Tile::kStages; ++i) {
      shared.Full(i).Init(1);
      // Each consumer warp of the cluster that reads the stage.
      shared.Empty(i).Init((Tile::kAlternates ? 1 : Tile::kConsumerGroups) * 4 * Tile::kCluster);
    }
    if constexpr (Tile::kAlternates) InitTurns(shared);
    if constexpr (kAdds) {
      for (int i = 0; i < Tile::kConsumerGroups * Tile::kOutBuffers; ++i) {
        shared.Old(i / Tile::kOutBuffers, i % Tile::kOutBuffers).Init(1);
      }
    }
    Mbarrier::InitDone();
    if constexpr (Tile::kCluster > 1) {
      WaitForPreviousKernel();  // Which may have made copies of operands.
      FillStagesAlone<Tile, kDivides>(a, b, gemm, shared, order, rank);
    }
  }
  if constexpr (Tile::kCluster > 1) {
    MeetCluster();  // InitDone() has released the barriers: SyncCluster() would wait for memory.
  } else {
    __syncthreads();
  }
  WaitForPreviousKernel();
  if (warpgroup == 0) {
    if constexpr (kMovesRegisters) ReleaseRegistersDownTo<kTensorProducerRegisters>();
    if (threadIdx.x == 0) ProduceStages<Tile, kDivides>(a, b, gemm, shared, order, rank);
    if constexpr (kDivides) {
      const int warp = static_cast<int>(threadIdx.x) / 32;
      if (warp == 1 && PiecesOf<Tile, kDivides>(gemm, order).LeavesSums()) {
        TellOfSums<Tile>(gemm, static_cast<int>(threadIdx.x) % 32);
      }
    }
  } else {
    if constexpr (kMovesRegisters) AcquireRegistersUpTo<kTensorConsumerRegisters>();
    if constexpr (Tile::kAlternates) {
      ConsumeInTurn(c, gemm, shared, order, rank, warpgroup - 1, store);
    } else {
      ConsumeStages<Tile, kAdds, kDivides>(c, gemm, shared, order, rank, warpgroup - 1, store);
    }
  }
  // No block may end while another one's copies or arrivals are on their way to it. MeetCluster()
  // does not wait for arrivals, which may then change a barrier of the next block there: of two
  // runs with it one did not end.
  if constexpr (Tile::kCluster > 1) SyncCluster();
}

template <typename Tile, bool kAdds = false, bool kDivides = false>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    TensorProduct(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                  const __grid_constant__ CUtensorMap c, TensorGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  MultiplyTensors<Tile, kAdds, kDivides>(a, b, c, gemm, StoresSums());
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_KERNEL_H_
