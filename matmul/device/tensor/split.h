// The kernel of tensor cores for products with few tiles: the blocks of a cluster divide a tile's k
// extent and add their sums through distributed shared memory. A block computes one tile and ends.
// Two blocks with narrow tiles fit on a multiprocessor, so that one's first loads and stores lie
// under the other's multiplications. Tiles of more than 64 columns are for products where both
// extents are hundreds.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SPLIT_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SPLIT_H_

#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor/decode_sums.h"
#include "matmul/device/tensor/narrow_panel.h"
#include "matmul/device/tensor/split_block.h"
#include "matmul/device/tensor/split_plan.h"
#include "matmul/device/tensor/stage_ring.h"
#include "matmul/device/tensor/sums.h"

namespace stridewise {

template <typename ElementType, int kColumns, OperandLayout kMajorOfA, OperandLayout kMajorOfB>
struct TensorSplitTile {
  using Element = ElementType;
  static constexpr OperandLayout kMajorA = kMajorOfA;
  static constexpr OperandLayout kMajorB = kMajorOfB;
  static constexpr int kBlockM = kSplitBlockRows;
  static constexpr int kBlockN = kColumns;
  static constexpr int kBlockK = 64;
  static constexpr int kMmaK = 16;

  static constexpr int kPanelBytes = kBlockK * kSwizzleBytes;  // 64 of m or n of an MN-major tile.
  static constexpr int kBytesA = kBlockM * kSwizzleBytes;
  // Up to 64 columns that do not lie along k are a panel of their own width.
  static constexpr bool kNarrowB = kMajorB == OperandLayout::kMnMajor && kBlockN <= 64;
  static constexpr int kBytesB = kBlockN * kSwizzleBytes;
  static constexpr int kStageBytes = kBytesA + kBytesB;

  // Rows of the boxes that the TMA loads of operands as they are stored.
  static constexpr int kBoxRowsA = kMajorA == OperandLayout::kKMajor ? kBlockM : kBlockK;
  static constexpr int kBoxRowsB = kMajorB == OperandLayout::kKMajor ? kBlockN : kBlockK;
  static constexpr int kBoxColsB = kNarrowB ? kBlockN : 64;
  static_assert(kMajorB == OperandLayout::kKMajor || kBlockN % kBoxColsB == 0, "whole panels");

  static constexpr bool kWide = IsWideSplit(kBlockN);
  // From 64 columns on sums lie as C does, so that those of other blocks are loaded as vectors.
  // 128 x 1024 x 5120 in six parts took 17.3 us on an H200 where they were loaded one by one, and
  // 15.0 as a product of C transposed, which loaded them as vectors.
  static constexpr bool kSumsLieAsC = kBlockN >= 64;
  using Sums =
      std::conditional_t<kSumsLieAsC, DecodeSums<kBlockM, kBlockN>, TileSums<kBlockM, kBlockN>>;

  static constexpr int SharedBytes(int stages) {
    const int of_stages = stages * kStageBytes;
    return kBytesBesideStages + (of_stages > Sums::kBytes ? of_stages : Sums::kBytes);
  }
};

// What the kernel needs to know of the product beside the tensor maps.
struct TensorSplitGemm {
  int rows, cols, k;  // Of the tiled product: m and n, or n and m where C is transposed.
  int split;          // Blocks of a cluster.
  int stages;
  int a_moves, b_moves;  // 0: all products of the batch use the same operand, else 1.
  int out_bytes;         // Of an element of C: 4, or 2 for the type of the operands.
  TensorOutput c;
};

// Starts the copies of one stage.
template <typename Tile>
__device__ inline void LoadTensorSplitStage(const CUtensorMap& a, const CUtensorMap& b, uint32_t to,
                                            int row, int col, int k, int za, int zb,
                                            Mbarrier& full) {
  if constexpr (Tile::kMajorA == OperandLayout::kKMajor) {
    CopyBox(a, k, row, za, to, full);
  } else {
#pragma unroll
    for (int i = 0; i < Tile::kBlockM / 64; ++i) {
      CopyBox(a, row + i * 64, k, za, to + i * Tile::kPanelBytes, full);
    }
  }
  to += Tile::kBytesA;
  if constexpr (Tile::kMajorB == OperandLayout::kKMajor) {
    CopyBox(b, k, col, zb, to, full);
  } else {
#pragma unroll
    for (int i = 0; i < Tile::kBlockN / Tile::kBoxColsB; ++i) {
      CopyBox(b, col + i * 64, k, zb, to + i * Tile::kPanelBytes, full);
    }
  }
}

// Describes B's part of a stage to wgmma.
template <typename Tile>
__device__ inline uint64_t SplitDescriptorOfB(uint32_t at) {
  if constexpr (Tile::kNarrowB) {
    return NarrowPanelDescriptor<Tile::kBlockN * 2>(at);
  } else {
    return TileDescriptor<Tile::kMajorB>(at, Tile::kPanelBytes);
  }
}
template <typename Tile>
constexpr uint64_t kSplitStepOfB = Tile::kNarrowB
                                       ? kNarrowPanelStep<Tile::kBlockN * 2>
                                       : DescriptorStep<Tile::kMajorB, typename Tile::Element>();

// Adds and stores block `rank`'s part of the tile at (row, col). Called by the consumers.
template <typename Tile, typename Out>
__device__ inline void StoreSplitSums(const typename Tile::Sums& sums, int rank,
                                      const TensorSplitGemm& gemm, int row, int col, int batch) {
  if constexpr (Tile::kSumsLieAsC) {
    StoreDecodeSums<Out, kSplitBlockConsumerThreads>(
        sums, rank, gemm.split, gemm.c, min(gemm.rows - row, Tile::kBlockM), row, col, batch);
  } else {
    StoreTileSums<Out, kSplitBlockConsumerThreads>(sums, rank, gemm.split, gemm.c, row, col, batch);
  }
}

template <typename Tile>
__global__ void __launch_bounds__(kSplitBlockThreads, Tile::kWide ? 1 : 2)
    TensorSplit(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                const __grid_constant__ TensorSplitGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Element = typename Tile::Element;
  extern __shared__ char raw[];
  const StageRing<kSplitMaxStages> ring(raw, Tile::kStageBytes);
  const typename Tile::Sums sums = {reinterpret_cast<float*>(ring.stages)};
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rank = static_cast<int>(blockIdx.x) % gemm.split;
  const int tile = static_cast<int>(blockIdx.x) / gemm.split;
  const int tile_rows = (gemm.rows + Tile::kBlockM - 1) / Tile::kBlockM;
  const int tile_cols = (gemm.cols + Tile::kBlockN - 1) / Tile::kBlockN;
  const int batch = tile / (tile_rows * tile_cols);
  const int in_product = tile - batch * tile_rows * tile_cols;
  const int row = in_product % tile_rows * Tile::kBlockM;
  const int col = in_product / tile_rows * Tile::kBlockN;
  const StepRange steps = StepsOfBlock<Tile::kBlockK>(gemm.k, rank, gemm.split);
  const auto load = [&](int step, uint32_t to, Mbarrier& full) {
    LoadTensorSplitStage<Tile>(a, b, to, row, col, step * Tile::kBlockK, batch * gemm.a_moves,
                               batch * gemm.b_moves, full);
  };
  if (threadIdx.x == kSplitBlockConsumerThreads) {
    PrefetchMap(a);
    PrefetchMap(b);
    ring.Init(gemm.stages, kSplitBlockConsumerWarps);
    WaitForPreviousKernel();  // Which may have made copies of operands.
    ring.FillFirst(steps, gemm.stages, load);
  }
  __syncthreads();
  WaitForPreviousKernel();
  if (warp == kSplitBlockConsumerWarps) {
    if (lane == 0) ring.FillAgain(steps, gemm.stages, load);
    __syncwarp();
  } else {
    using Mma = Wgmma<Element, Tile::kBlockN, Tile::kMajorA, Tile::kMajorB>;
    const int consumer = warp / 4;
    float d[Tile::kBlockN / 2];
    ring.Drain(steps, gemm.stages, lane, [&](int step, uint32_t at) {
      const uint64_t of_a = TileDescriptor<Tile::kMajorA>(
          at + consumer * kSplitBlockMmaRows * kSwizzleBytes, Tile::kPanelBytes);
      const uint64_t of_b = SplitDescriptorOfB<Tile>(at + Tile::kBytesA);
      FenceWgmma();
#pragma unroll
      for (int i = 0; i < Tile::kBlockK / Tile::kMmaK; ++i) {
        Mma::Multiply(of_a + i * DescriptorStep<Tile::kMajorA, Element>(),
                      of_b + i * kSplitStepOfB<Tile>, i > 0 || step > steps.first, d);
      }
    });
    // Sums lie where stages did, which both warpgroups have read then.
    asm volatile("bar.sync 1, 256;" ::: "memory");
    const int first_row = warp * 16 + lane / 4;
    const int first_col = lane % 4 * 2;
    if constexpr (Tile::kSumsLieAsC) {
      if (gemm.c.transposed) {
        sums.KeepTransposed(first_row, first_col, d);
      } else {
        sums.Keep(first_row, first_col, d);
      }
    } else {
      sums.Keep(first_row, first_col, d);
    }
  }
  if (gemm.split > 1) {
    SyncCluster();
  } else {
    __syncthreads();
  }
  if (warp < kSplitBlockConsumerWarps) {
    if (gemm.out_bytes == 4) {
      StoreSplitSums<Tile, float>(sums, rank, gemm, row, col, batch);
    } else {
      StoreSplitSums<Tile, Element>(sums, rank, gemm, row, col, batch);
    }
  }
  // No block ends while another one reads its sums.
  if (gemm.split > 1) MeetCluster();
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SPLIT_H_
