// The kernel of tensor cores for products with up to 32 rows or columns, as in decoding, without a
// division of k: tiles of 64 of the many, whose blocks all run at once. Two blocks of a cluster
// have half of the few each and share the many, of which each loads a half for both.
//
// To divide k, as TensorSplit does, costs a cluster's barrier and a trip through distributed shared
// memory at the end: 16 x 4096 x 4096 takes 14.8 us on an H200 without and 15.7 with it.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_PAIR_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_PAIR_H_

#include <cuda.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor/pair_plan.h"
#include "matmul/device/tensor/sums.h"

namespace stridewise {

// One warpgroup multiplies and one warp loads; the others only help to store sums.
constexpr int kPairConsumers = 128;
constexpr int kPairThreads = 256;

// B lies along k.
template <typename ElementType, int kColumns, int kClusterBlocks, OperandLayout kMajorOfA>
struct TensorPairTile {
  using Element = ElementType;
  static constexpr OperandLayout kMajorA = kMajorOfA;
  static constexpr int kBlockM = kPairRows;
  static constexpr int kBlockN = kColumns;
  static constexpr int kBlockK = 64;
  static constexpr int kMmaK = 16;
  static constexpr int kCluster = kClusterBlocks;
  static constexpr bool kSharesA = kCluster == 2;

  static constexpr int kPanelBytes = kBlockK * kSwizzleBytes;  // 64 of an MN-major operand.
  static constexpr int kBytesA = kBlockM * kSwizzleBytes;
  static constexpr int kStageBytes = PairStageBytes(kBlockN);

  // Rows of the boxes that the TMA loads, of m or of k: half of what is shared.
  static constexpr int kBoxRowsA = kSharesA ? kBlockM / 2 : kBlockM;
  static constexpr int kBoxRowsB = kBlockN;
  static_assert(kBlockM == kBlockK, "as many rows of a box whichever way A lies");

  // Stages that a block fills before it has met its partner: what arrives meanwhile.
  static constexpr int kAloneBytes = 96 * 1024;
  static constexpr int kAlone = kCluster == 1 ? 0 : kAloneBytes / kStageBytes;

  using Sums = TileSums<kBlockM, kBlockN>;

  // 1024 for the barriers, and the first stage lies at a multiple of 1024.
  static constexpr int SharedBytes(int stages) {
    const int of_stages = stages * kStageBytes;
    return 2048 + (of_stages > Sums::kBytes ? of_stages : Sums::kBytes);
  }
};

// What the kernel needs to know of the product beside the tensor maps.
struct TensorPairGemm {
  int rows, cols, k;  // Of the tiled product: m and n, or n and m where C is transposed.
  int stages;
  int a_moves, b_moves;  // 0: all products of the batch use the same operand, else 1.
  int out_bytes;         // Of an element of C: 4, or 2 for the type of the operands.
  TensorOutput c;
};

// A block's tile.
struct PairCoord {
  int row, col, batch;
};
template <typename Tile>
__device__ inline PairCoord PairCoordOf(const TensorPairGemm& gemm, int rank) {
  const int cluster = static_cast<int>(blockIdx.x) / Tile::kCluster;
  const int clusters = (gemm.rows + Tile::kBlockM - 1) / Tile::kBlockM;
  const int batch = cluster / clusters;
  return {(cluster - batch * clusters) * Tile::kBlockM, rank * Tile::kBlockN, batch};
}

// Starts the copies of a stage: of what is shared this block's half to both blocks or, where
// kAlone, both halves to this one.
template <typename Tile, bool kAlone>
__device__ inline void LoadPairStage(const CUtensorMap& a, const CUtensorMap& b,
                                     const TensorPairGemm& gemm, const PairCoord& at, int rank,
                                     int k, uint32_t to, Mbarrier& full) {
  constexpr uint16_t kBoth = 3;
  constexpr int kBoxBytesA = Tile::kBoxRowsA * kSwizzleBytes;
  constexpr bool kAlongK = Tile::kMajorA == OperandLayout::kKMajor;
  const int za = at.batch * gemm.a_moves;
  if constexpr (Tile::kSharesA && !kAlone) {
    const int first = rank * Tile::kBoxRowsA;
    CopyBoxTo(kBoth, a, kAlongK ? k : at.row, kAlongK ? at.row + first : k + first, za,
              to + rank * kBoxBytesA, full);
  } else {
#pragma unroll
    for (int half = 0; half < Tile::kCluster; ++half) {
      const int first = half * Tile::kBoxRowsA;
      CopyBox(a, kAlongK ? k : at.row, kAlongK ? at.row + first : k + first, za,
              to + half * kBoxBytesA, full);
    }
  }
  CopyBox(b, k, at.col, at.batch * gemm.b_moves, to + Tile::kBytesA, full);
}

template <typename Tile>
__global__ void __launch_bounds__(kPairThreads, 1)
    TensorPair(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
               const __grid_constant__ TensorPairGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Element = typename Tile::Element;
  extern __shared__ char raw[];
  char* const base = raw + (1024 - SharedAddress(raw) % 1024) % 1024;
  auto* const full = reinterpret_cast<Mbarrier*>(base);
  auto* const empty = full + kPairMaxStages;
  char* const stages = base + 1024;
  const typename Tile::Sums sums = {reinterpret_cast<float*>(stages)};
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rank = static_cast<int>(blockIdx.x) % Tile::kCluster;
  const PairCoord at = PairCoordOf<Tile>(gemm, rank);
  const int steps = (gemm.k + Tile::kBlockK - 1) / Tile::kBlockK;
  const int alone = min(min(Tile::kAlone, gemm.stages), steps);
  const auto address_of = [&](int stage) {
    return SharedAddress(stages) + stage * Tile::kStageBytes;
  };
  if (threadIdx.x == kPairConsumers) {
    PrefetchMap(a);
    PrefetchMap(b);
    for (int i = 0; i < gemm.stages; ++i) {
      full[i].Init(1);
      empty[i].Init(kPairConsumers / 32 * Tile::kCluster);
    }
    Mbarrier::InitDone();
    if constexpr (Tile::kCluster > 1) {
      WaitForPreviousKernel();  // Which may have made copies of operands.
#pragma unroll 1
      for (int step = 0; step < alone; ++step) {
        full[step].ArriveExpecting(Tile::kStageBytes);
        LoadPairStage<Tile, /*kAlone=*/true>(a, b, gemm, at, rank, step * Tile::kBlockK,
                                             address_of(step), full[step]);
      }
    }
  }
  if constexpr (Tile::kCluster > 1) {
    MeetCluster();  // InitDone() has released the barriers: SyncCluster() would wait for memory.
  } else {
    __syncthreads();
  }
  WaitForPreviousKernel();
  if (warp == kPairConsumers / 32) {
    if (lane == 0) {
      int stage = alone == gemm.stages ? 0 : alone;
      uint32_t phase = alone == gemm.stages ? 1 : 0;
#pragma unroll 1
      for (int step = alone; step < steps; ++step) {
        empty[stage].Wait(phase ^ 1);
        full[stage].ArriveExpecting(Tile::kStageBytes);
        LoadPairStage<Tile, /*kAlone=*/false>(a, b, gemm, at, rank, step * Tile::kBlockK,
                                              address_of(stage), full[stage]);
        if (++stage == gemm.stages) {
          stage = 0;
          phase ^= 1;
        }
      }
    }
    __syncwarp();
  } else if (warp < kPairConsumers / 32) {
    using Mma = Wgmma<Element, Tile::kBlockN, Tile::kMajorA, OperandLayout::kKMajor>;
    float d[Tile::kBlockN / 2];
    int stage = 0;
    uint32_t phase = 0;
    int previous = 0;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      full[stage].Wait(phase);
      const uint64_t of_a = TileDescriptor<Tile::kMajorA>(address_of(stage), Tile::kPanelBytes);
      const uint64_t of_b = TileDescriptor<OperandLayout::kKMajor>(
          address_of(stage) + Tile::kBytesA, Tile::kPanelBytes);
      FenceWgmma();
#pragma unroll
      for (int i = 0; i < Tile::kBlockK / Tile::kMmaK; ++i) {
        Mma::Multiply(of_a + i * DescriptorStep<Tile::kMajorA, Element>(),
                      of_b + i * DescriptorStep<OperandLayout::kKMajor, Element>(),
                      i > 0 || step > 0, d);
      }
      CommitWgmma();
      WaitForWgmma<1>();  // The stage before has been read.
      // Only of a stage that will be filled again: no arrival is on its way when a block ends.
      if (step > 0 && step - 1 + gemm.stages < steps && lane < Tile::kCluster) {
        if constexpr (Tile::kCluster > 1) {
          ArriveAt(empty[previous], lane);
        } else {
          empty[previous].Arrive();
        }
      }
      previous = stage;
      if (++stage == gemm.stages) {
        stage = 0;
        phase ^= 1;
      }
    }
    WaitForWgmma<0>();
    SyncWarpgroup(1);  // Sums lie where stages did, which all four warps have read then.
    sums.Keep(warp * 16 + lane / 4, lane % 4 * 2, d);
  }
  // What this block has loaded for its partner arrives before the partner comes here: a block ends
  // behind that.
  if constexpr (Tile::kCluster > 1) ArriveAtCluster</*kRelease=*/false>();
  __syncthreads();
  if (gemm.out_bytes == 4) {
    StoreTileSums<float, kPairThreads, /*kOwn=*/true>(sums, 0, 1, gemm.c, at.row, at.col, at.batch);
  } else {
    StoreTileSums<Element, kPairThreads, /*kOwn=*/true>(sums, 0, 1, gemm.c, at.row, at.col,
                                                        at.batch);
  }
  if constexpr (Tile::kCluster > 1) WaitForCluster();
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PAIR_H_
