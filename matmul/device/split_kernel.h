// The persistent kernel that multiplies split operands: tensor_kernel.h with all parts of both in a
// stage, and the products that the scheme asks for.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_KERNEL_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_KERNEL_H_

#include <type_traits>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/split_chosen.h"
#include "matmul/device/split_in_fp32.h"
#include "matmul/device/split_scales.h"
#include "matmul/device/split_tile.h"
#include "matmul/device/split_turns.h"
#include "matmul/device/tensor_rows.h"
#include "matmul/device/tensor_store.h"

namespace stridewise {

// With 240 registers for a consumer, which has 192 accumulators, the producer's 24 are not enough.
constexpr int kSplitProducerRegisters = 40;
constexpr int kSplitConsumerRegisters = 232;

template <typename Tile>
__device__ inline void ProduceSplitStages(const SplitMaps<typename Tile::Scheme>& a,
                                          const SplitMaps<typename Tile::Scheme>& b,
                                          const SplitGemm& gemm, const TensorShared<Tile>& shared,
                                          const TensorTileOrder<Tile>& order, uint32_t rank) {
  PipelineState<Tile::kStages> state;
#pragma unroll 1
  for (int t = blockIdx.x / Tile::kCluster; t < order.tiles(); t += gridDim.x / Tile::kCluster) {
    const auto coord = order.At(t);
    const int row = coord.row + static_cast<int>(rank) * Tile::kBlockM;
    if constexpr (Tile::Scheme::kForm.mixed) {
      ProduceTurns(a, b, gemm, shared, row, coord.col, coord.batch, rank, &state);
    } else {
#pragma unroll 1
      for (int k = 0; k < gemm.k; k += Tile::kBlockK) {
        shared.Empty(state.stage).Wait(state.phase ^ 1);
        shared.Full(state.stage).ArriveExpecting(Tile::kStageBytes);
        LoadSplitStage(a, b, gemm, shared, state.stage, row, coord.col, k, coord.batch, rank);
        state.Advance();
      }
    }
  }
}

// Sums a tile's products. Tensor cores cut sums off, so that they are promoted to FP32, where they
// are rounded to nearest.
template <typename Tile>
__device__ inline void SumRounded(const SplitGemm& gemm, const TensorShared<Tile>& shared,
                                  int consumer, int lane, PipelineState<Tile::kStages>* state,
                                  float (&sums)[Tile::kBlockN / 2]) {
  float d[Tile::kBlockN / 2];
#pragma unroll
  for (float& sum : sums) sum = 0;
  constexpr int kStagesOfSum = Tile::kPromotedK / Tile::kBlockK;
  if constexpr (Tile::kSeparate) {
    float small[Tile::kBlockN / 2];
    int previous = -1;
#pragma unroll 1
    for (int k = 0; k < gemm.k; k += Tile::kPromotedK) {
#pragma unroll
      for (int i = 0; i < kStagesOfSum; ++i) {
        if (i > 0 && k + i * Tile::kBlockK >= gemm.k) break;
        shared.Full(state->stage).Wait(state->phase);
        const SplitDescriptors of = DescriptorsOf(shared, state->stage, consumer);
        FenceWgmma();
        MultiplyParts<Tile>(of, 0, 0, i > 0, d);
        CommitWgmma();
        MultiplySmallParts<Tile>(of, i > 0 || k > 0, small);
        CommitWgmma();
        WaitForWgmma<1>();  // For the largest parts, and all of the stage before.
        if (previous >= 0) ReleaseStage(shared, previous, lane);
        previous = state->stage;
        state->Advance();
      }
      AddTo(sums, d);
    }
    WaitForWgmma<0>();
    ReleaseStage(shared, previous, lane);
    AddTo(sums, small);
  } else {
#pragma unroll 1
    for (int k = 0; k < gemm.k; k += Tile::kPromotedK) {
#pragma unroll
      for (int i = 0; i < kStagesOfSum; ++i) {
        if (i > 0 && k + i * Tile::kBlockK >= gemm.k) break;
        shared.Full(state->stage).Wait(state->phase);
        const SplitDescriptors of = DescriptorsOf(shared, state->stage, consumer);
        FenceWgmma();
        MultiplySmallParts<Tile>(of, i > 0, d);
        MultiplyParts<Tile>(of, 0, 0, true, d);
        CommitWgmma();
        WaitForWgmma<0>();
        ReleaseStage(shared, state->stage, lane);
        state->Advance();
      }
      AddTo(sums, d);
    }
  }
}

// The same for a k below that of the scheme, for which sums of four instructions lose too much:
// each is promoted.
template <typename Tile>
__device__ inline void SumFinely(const SplitGemm& gemm, const TensorShared<Tile>& shared,
                                 int consumer, int lane, PipelineState<Tile::kStages>* state,
                                 float (&sums)[Tile::kBlockN / 2]) {
  float d[Tile::kBlockN / 2], small[Tile::kBlockN / 2];
#pragma unroll
  for (float& sum : sums) sum = 0;
#pragma unroll 1
  for (int k = 0; k < gemm.k; k += Tile::kBlockK) {
    shared.Full(state->stage).Wait(state->phase);
    const SplitDescriptors of = DescriptorsOf(shared, state->stage, consumer);
    FenceWgmma();
    MultiplySmallParts<Tile>(of, k > 0, small);
    CommitWgmma();
    WaitForWgmma<0>();
#pragma unroll
    for (int step = 0; step < Tile::kSteps; ++step) {
      FenceWgmma();
      MultiplyStep<Tile>(of, 0, 0, step, false, d);
      CommitWgmma();
      WaitForWgmma<0>();
      AddTo(sums, d);
    }
    ReleaseStage(shared, state->stage, lane);
    state->Advance();
  }
  AddTo(sums, small);
}

// The same for integers, whose sums are exact: each order of products has accumulators of its own.
template <typename Tile>
__device__ inline void SumExactly(const SplitGemm& gemm, const TensorShared<Tile>& shared,
                                  int consumer, int lane, PipelineState<Tile::kStages>* state,
                                  float (&sums)[Tile::kBlockN / 2]) {
  using Scheme = typename Tile::Scheme;
  // Set to zero and not left to the first product: the registers would have a value, whatever it
  // is, to keep for it until there, also while MultiplyInFp32() runs.
  typename Scheme::Sum of_order[3][Tile::kBlockN / 2] = {};
  int previous = -1;
#pragma unroll 1
  for (int k = 0; k < gemm.k; k += Tile::kBlockK) {
    shared.Full(state->stage).Wait(state->phase);
    const SplitDescriptors of = DescriptorsOf(shared, state->stage, consumer);
    FenceWgmma();
    MultiplyByOrder<Tile>(of, of_order);
    CommitWgmma();
    WaitForWgmma<1>();  // For all of the stage before.
    if (previous >= 0) ReleaseStage(shared, previous, lane);
    previous = state->stage;
    state->Advance();
  }
  WaitForWgmma<0>();
  ReleaseStage(shared, previous, lane);
#pragma unroll
  for (int i = 0; i < Tile::kBlockN / 2; ++i) {
    sums[i] = Scheme::Total(of_order[0][i], of_order[1][i], of_order[2][i]);
  }
}

// Sums a tile's products, as the scheme and k ask for.
template <typename Tile>
__device__ inline void SumTile(const SplitGemm& gemm, const TensorShared<Tile>& shared,
                               int consumer, int lane, PipelineState<Tile::kStages>* state,
                               float (&sums)[Tile::kBlockN / 2]) {
  if constexpr (std::is_integral_v<typename Tile::Scheme::Sum>) {
    SumExactly(gemm, shared, consumer, lane, state, sums);
  } else if constexpr (Tile::Scheme::kForm.mixed) {
    SumTurns(gemm, shared, consumer, lane, state, sums);
  } else {
    if constexpr (Tile::kSumsShortK) {
      if (gemm.k < Tile::Scheme::kForm.least_k) {
        SumFinely(gemm, shared, consumer, lane, state, sums);
        return;
      }
    }
    SumRounded(gemm, shared, consumer, lane, state, sums);
  }
}

template <typename Tile>
__device__ inline void ConsumeSplitStages(const CUtensorMap& c, const SplitGemm& gemm,
                                          const TensorShared<Tile>& shared,
                                          TileScales<Tile>* scales,
                                          const TensorTileOrder<Tile>& order, uint32_t rank,
                                          int consumer) {
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
  PipelineState<Tile::kStages> state;
#pragma unroll 1
  for (int t = blockIdx.x / Tile::kCluster; t < order.tiles(); t += gridDim.x / Tile::kCluster) {
    const auto coord = order.At(t);
    const int row = coord.row + static_cast<int>(rank) * Tile::kBlockM + consumer * kMmaRows;
    StartScales(gemm, thread, row, coord.col, coord.batch, scales);
    float sums[Tile::kBlockN / 2];
    SumTile(gemm, shared, consumer, thread % 32, &state, sums);
    if (FinishScales(gemm, consumer, thread, row, coord.col, scales)) {
      Unscale(*scales, thread, sums);
    } else {
      MultiplyInFp32<Tile>(gemm, reinterpret_cast<float*>(shared.Out(consumer, 0)), consumer,
                           thread, row, coord.col, coord.batch, sums);
    }
    if (gemm.store_by_tma) {
      StoreByTma(c, gemm, shared, consumer, thread, row, coord.col, coord.batch, sums);
    } else if (gemm.beta == 0) {
      StoreRows(gemm, shared, consumer, thread, row, coord.col, coord.batch, sums);
    } else {
      StoreDirectly<Tile>(gemm, thread, row, coord.col, coord.batch, sums);
    }
    SyncWarpgroup(1 + consumer);  // All have read the scales and staged rows.
  }
  if (thread == 0) WaitForStores();
}

// Does the work of a block of the kernels below. may_run() is asked when the previous kernel's
// results can be read: where it is false, for all blocks of the grid, nothing is multiplied.
template <typename Tile, typename MayRun>
__device__ inline void MultiplySplit(const SplitMaps<typename Tile::Scheme>& a,
                                     const SplitMaps<typename Tile::Scheme>& b,
                                     const CUtensorMap& c, const SplitGemm& gemm, MayRun may_run) {
  extern __shared__ char raw[];
  __shared__ TileScales<Tile> scales[kConsumers];
  const TensorShared<Tile> shared(raw);
  const uint32_t rank = Tile::kCluster > 1 ? ClusterRank() : 0;
  const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroupThreads;
  if (threadIdx.x == 0) {
    for (int part = 0; part < Tile::kParts; ++part) {
      PrefetchMap(a.part[part]);
      PrefetchMap(b.part[part]);
    }
    for (int i = 0; i < Tile::kStages; ++i) {
      shared.Full(i).Init(1);
      shared.Empty(i).Init(kConsumers * 4 * Tile::kCluster);  // Each consumer warp of the cluster.
    }
    Mbarrier::InitDone();
  }
  if constexpr (Tile::kCluster > 1) {
    SyncCluster();
  } else {
    __syncthreads();
  }
  WaitForPreviousKernel();
  if (!may_run()) return;
  const TensorTileOrder<Tile> order(gemm);
  if (warpgroup == 0) {
    ReleaseRegistersDownTo<kSplitProducerRegisters>();
    if (threadIdx.x == 0) ProduceSplitStages(a, b, gemm, shared, order, rank);
  } else {
    AcquireRegistersUpTo<kSplitConsumerRegisters>();
    ConsumeSplitStages(c, gemm, shared, &scales[warpgroup - 1], order, rank, warpgroup - 1);
  }
  // No block may end while another one's copies or arrivals are on their way to it.
  if constexpr (Tile::kCluster > 1) SyncCluster();
}

template <typename Tile>
__global__ void __launch_bounds__(kTensorThreads, 1)
    SplitProduct(const __grid_constant__ SplitMaps<typename Tile::Scheme> a,
                 const __grid_constant__ SplitMaps<typename Tile::Scheme> b,
                 const __grid_constant__ CUtensorMap c, const __grid_constant__ SplitGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  MultiplySplit<Tile>(a, b, c, gemm, [] { return true; });
#endif
}

// Does the same where the scheme that was chosen for the call is this one.
template <typename Tile>
__global__ void __launch_bounds__(kTensorThreads, 1)
    SplitProductIfChosen(const __grid_constant__ SplitMaps<typename Tile::Scheme> a,
                         const __grid_constant__ SplitMaps<typename Tile::Scheme> b,
                         const __grid_constant__ CUtensorMap c,
                         const __grid_constant__ SplitGemm gemm, IfChosen chosen) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  MultiplySplit<Tile>(a, b, c, gemm, chosen);
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_KERNEL_H_
