// The kernel of tensor cores for INT8 products with up to 64 rows or columns: TensorDecode's tiles,
// whose rows are the few and whose columns are rows of the large operand, and the sums of
// TensorInt8Split, which the blocks of a cluster add to C in the L2. With the large operand's rows
// in tiles of 128, as that kernel has them, 32 tiles of 4096 in three parts leave 36 of the
// multiprocessors idle.

#ifndef STRIDEWISE_MATMUL_DEVICE_FEW_INT8_DECODE_H_
#define STRIDEWISE_MATMUL_DEVICE_FEW_INT8_DECODE_H_

#include <cuda.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/int8/narrow.h"
#include "matmul/device/int8/split.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor/decode.h"
#include "matmul/device/tensor/stage_ring.h"

namespace stridewise {

// Both operands lie along k.
template <int kColumns>
struct FewInt8Tile
    : TensorDecodeTile<int8_t, kColumns, OperandLayout::kKMajor, OperandLayout::kKMajor> {
  static constexpr int kBlockM = kDecodeFew;
  static constexpr int kBlockN = kColumns;

  static constexpr int SharedBytes(int of_stages) { return kBytesBesideStages + of_stages; }
};

// `gemm` has the operands, and `sums` C, whose rows are the few.
template <typename Tile>
__global__ void __launch_bounds__(kDecodeThreads, 2)
    TensorFewInt8(const __grid_constant__ CUtensorMap few, const __grid_constant__ CUtensorMap many,
                  const __grid_constant__ TensorDecodeGemm gemm,
                  const __grid_constant__ Int8SplitGemm sums) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  static_assert(kDecodeThreads == kSplitBlockConsumerThreads, "all threads share C's first values");
  constexpr int kLoader = kDecodeConsumers / 32;
  extern __shared__ char raw[];
  const int few_bytes = gemm.few_rows * kSwizzleBytes;
  const StageRing<kDecodeMaxStages> ring(raw, few_bytes + Tile::kMany * kSwizzleBytes);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rank = static_cast<int>(blockIdx.x) % gemm.split;
  const int tile = static_cast<int>(blockIdx.x) / gemm.split;
  const int tiles = (gemm.many + Tile::kMany - 1) / Tile::kMany;
  const int batch = tile / tiles;
  const int first_of_many = (tile - batch * tiles) * Tile::kMany;
  const StepRange steps = StepsOfBlock<Tile::kBlockK>(gemm.k, rank, gemm.split);
  const auto load = [&](int step, uint32_t to, Mbarrier& full) {
    LoadDecodeStage<Tile>(few, many, to, to + few_bytes, first_of_many, step * Tile::kBlockK,
                          batch * gemm.few_moves, batch * gemm.many_moves, gemm.few_rows, full);
  };
  if (threadIdx.x == kDecodeConsumers) {
    PrefetchMap(many);
    PrefetchMap(few);
    ring.Init(gemm.stages, kLoader);
    WaitForPreviousKernel();  // Which may have made copies of operands.
    ring.FillFirst(steps, gemm.stages, load);
  } else {
    PrefetchDecodeLines<Tile>(gemm, first_of_many, steps.first * Tile::kBlockK,
                              batch * gemm.many_moves);
  }
  __syncthreads();
  WaitForPreviousKernel();
  int* const c = sums.c + batch * sums.stride + first_of_many * sums.of_col;
  if (gemm.split > 1) {
    VisitShare<Tile>(sums, c, rank, 0, first_of_many,
                     [&](int* at) { *at = sums.beta != 0 ? sums.beta * *at : 0; });
    __syncwarp();
  }
  if (warp == kLoader) {
    if (lane == 0) ring.FillAgain(steps, gemm.stages, load);
    __syncwarp();
  }
  if (gemm.split > 1) ArriveAtCluster</*kRelease=*/true>();
  if (warp >= kLoader) {
    if (gemm.split > 1) WaitForCluster();
    return;
  }
  using Mma = Wgmma<int8_t, Tile::kMany, OperandLayout::kKMajor, OperandLayout::kKMajor>;
  int d[Tile::kMany / 2];
  ring.Drain(steps, gemm.stages, lane, [&](int step, uint32_t at) {
    const uint64_t of_few = TileDescriptor<OperandLayout::kKMajor>(at, 0);
    const uint64_t of_many = TileDescriptor<OperandLayout::kKMajor>(at + few_bytes, 0);
    constexpr uint64_t kStep = DescriptorStep<OperandLayout::kKMajor, int8_t>();
    FenceWgmma();
#pragma unroll
    for (int i = 0; i < Tile::kBlockK / Tile::kMmaK; ++i) {
      Mma::Multiply(of_few + i * kStep, of_many + i * kStep, i > 0 || step > steps.first, d);
    }
  });
  if (gemm.split > 1) WaitForCluster();
  if (warp * 16 < gemm.few) AddInt8Sums<Tile>(sums, c, 0, first_of_many, warp, lane, d);
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_FEW_INT8_DECODE_H_
