// The kernel of single.h in clusters of kRowBlocks x kColBlocks tiles. Tiles beside each other have
// the same rows of A, and those below each other the same columns of B: each block loads a part of
// both for all that have them.
//
// What a multiprocessor loads bounds products whose rows begin within lines of the L2, since 128
// bytes of such a row are five sectors in two lines: in clusters of 4 x 2 a block of 64 x 128 loads
// 64 rows for a step, and alone 192.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_CLUSTERED_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_CLUSTERED_H_

#include <cuda.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor/single.h"
#include "matmul/device/tensor_accumulation.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// A tile in a cluster: kRowBlocks share its columns of B, kColBlocks its rows of A.
template <typename OneTile, int kRowBlocksOfCluster, int kColBlocksOfCluster>
struct ClusteredTile : OneTile {
  using One = OneTile;
  static constexpr int kRowBlocks = kRowBlocksOfCluster;
  static constexpr int kColBlocks = kColBlocksOfCluster;
  static constexpr int kBlocks = kRowBlocks * kColBlocks;

  // Rows of the boxes that a block loads, of the tile's rows or columns along k, or of k.
  static constexpr int kBoxRowsA = OneTile::kBoxRowsA / kColBlocks;
  static constexpr int kBoxRowsB = OneTile::kBoxRowsB / kRowBlocks;
  static_assert(OneTile::kCluster == 1 && kBoxRowsA % kSwizzleRows == 0 &&
                kBoxRowsB % kSwizzleRows == 0);
};

// Loads the block's part, boxes of `box_rows`, of an operand's `extent` rows or columns for a step
// into the shared memory of `blocks`.
template <OperandLayout kMajor, int kExtent, int kBoxRows, int kPanelBytes>
__device__ inline void LoadPart(const CUtensorMap& map, uint16_t blocks, int part, int first, int k,
                                int z, uint32_t to, Mbarrier& full) {
  const int from = part * kBoxRows;
  to += from * kSwizzleBytes;
  if constexpr (kMajor == OperandLayout::kKMajor) {
    CopyBoxTo(blocks, map, k, first + from, z, to, full);
  } else {
    constexpr int kColumns = kSwizzleBytes / 2;  // Of a panel.
#pragma unroll
    for (int i = 0; i < kExtent / kColumns; ++i) {
      CopyBoxTo(blocks, map, first + i * kColumns, k + from, z, to + i * kPanelBytes, full);
    }
  }
}

// Called with the blocks of a cluster one after the other in x, row by row of its tiles, and
// clusters row by row of C; z is the product. REQUIRES: as TensorSingle().
template <typename Tile>
__global__ void __launch_bounds__(kSingleThreads<Tile>, 1)
    TensorClustered(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                    const __grid_constant__ TensorGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kConsumerThreads = Tile::kConsumerGroups * kWarpgroupThreads;
  extern __shared__ char raw[];
  const TensorShared<Tile> shared(raw);
  const int rank = static_cast<int>(blockIdx.x) % Tile::kBlocks;
  const int cluster = static_cast<int>(blockIdx.x) / Tile::kBlocks;
  const int below = rank / Tile::kColBlocks;
  const int beside = rank % Tile::kColBlocks;
  constexpr int kClusterCols = Tile::kBlockN * Tile::kColBlocks;
  const int clusters = (gemm.n + kClusterCols - 1) / kClusterCols;  // Beside each other.
  const int row = (cluster / clusters * Tile::kRowBlocks + below) * Tile::kBlockM;
  const int col = (cluster % clusters * Tile::kColBlocks + beside) * Tile::kBlockN;
  const int batch = static_cast<int>(blockIdx.z);
  uint32_t same_rows = 0, same_cols = 0;  // A bit for each block of the cluster.
#pragma unroll
  for (int i = 0; i < Tile::kBlocks; ++i) {
    same_rows |= i / Tile::kColBlocks == below ? 1u << i : 0;
    same_cols |= i % Tile::kColBlocks == beside ? 1u << i : 0;
  }
  if (threadIdx.x == kConsumerThreads) {
    BeginStages(a, b, shared, kConsumerThreads / 32 * (Tile::kRowBlocks + Tile::kColBlocks - 1));
  }
  MeetCluster();
  PipelineState<Tile::kStages> state;
  if (threadIdx.x >= kConsumerThreads) {
    if (threadIdx.x == kConsumerThreads) {
      WaitForPreviousKernel();  // Which may have made copies of operands.
#pragma unroll 1
      for (int k = 0; k < gemm.k; k += Tile::kBlockK) {
        shared.Empty(state.stage).Wait(state.phase ^ 1);
        Mbarrier& full = shared.Full(state.stage);
        full.ArriveExpecting(Tile::kStageBytes);
        LoadPart<Tile::kMajorA, Tile::kBlockM, Tile::kBoxRowsA, Tile::kPanelBytes>(
            a, static_cast<uint16_t>(same_rows), beside, row, k, batch * gemm.a_moves,
            shared.A(state.stage), full);
        LoadPart<Tile::kMajorB, Tile::kBlockN, Tile::kBoxRowsB, Tile::kPanelBytes>(
            b, static_cast<uint16_t>(same_cols), below, col, k, batch * gemm.b_moves,
            shared.B(state.stage), full);
        state.Advance();
      }
    }
    __syncwarp();
  } else {
    const int consumer = static_cast<int>(threadIdx.x) / kWarpgroupThreads;
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
    const int lane = thread % 32;
    float d[Tile::kBlockN / 2];
    const bool tells = lane < Tile::kBlocks && ((same_rows | same_cols) >> lane & 1) != 0;
    const auto release = [&](int stage) {
      if (tells) ArriveAt(shared.Empty(stage), lane);
    };
    SumStages(gemm.k, shared, consumer, release, &state, d);
    StoreSingle(gemm, shared, consumer, thread, row + consumer * kMmaRows, col, batch, d);
  }
  SyncCluster();  // No block ends while others' copies and arrivals are on their way to it.
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_CLUSTERED_H_
