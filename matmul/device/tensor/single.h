// The kernel of tensor cores for products that have at most as many tiles as there are
// multiprocessors: each block computes one tile, and ends.
//
// Such a product lasts 7 to 30 us, of which a microsecond is the time until a kernel's code has
// come from memory, if the kernel before it was another one. So there is little of it: no loop over
// tiles, no clusters, no setmaxnreg, and one way to store C. Barriers and first loads are unrolled
// all the same, since all else waits for them: with loops 512 x 512 x 512 takes 7.6 us on an H200
// and not 7.3.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_H_

#include <cuda.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor_accumulation.h"
#include "matmul/device/tensor_store.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// The consumers, and a warp that loads.
template <typename Tile>
constexpr int kSingleThreads = Tile::kConsumerGroups* kWarpgroupThreads + 32;

// Stores what lies inside C of kRows rows of 128 bytes, which lie swizzled in shared memory and
// begin at (row, col) of C. `thread` is one of kThreads.
template <typename Out, int kRows, int kThreads>
__device__ inline void StoreStagedRows(const TensorGemm& gemm, const char* staged, int thread,
                                       int row, int col, int batch) {
  constexpr int kPieces = kSwizzleBytes / 16;
  constexpr int kOfPiece = 16 / static_cast<int>(sizeof(Out));
  const int piece = thread % kPieces;
  const int rows = gemm.c_transposed ? gemm.n : gemm.m;
  const int cols = gemm.c_transposed ? gemm.m : gemm.n;
  col += piece * kOfPiece;
  if (col >= cols) return;
  Out* const c = static_cast<Out*>(gemm.c) + batch * gemm.stride_c + row * gemm.ldc + col;
#pragma unroll
  for (int first = 0; first < kRows; first += kThreads / kPieces) {
    const int r = first + thread / kPieces;
    if (row + r >= rows) return;
    *reinterpret_cast<uint4*>(c + r * gemm.ldc) = *reinterpret_cast<const uint4*>(
        staged + r * kSwizzleBytes + (piece ^ r % kSwizzleRows) * 16);
  }
}

// Stores a consumer's sums, times alpha, whose first row and column in the tile are `row` and
// `col`. Each warp stores its own 16 rows or, of C transposed, all of them the columns as rows.
template <typename Tile>
__device__ inline void StoreSingle(const TensorGemm& gemm, const TensorShared<Tile>& shared,
                                   int consumer, int thread, int row, int col, int batch,
                                   const float (&d)[Tile::kBlockN / 2]) {
  using Out = typename Tile::Out;
  const float alpha = AlphaOf<Tile>(gemm);
  const int lane = thread % 32;
  if constexpr (Tile::kTurned) {
    // As StoreTurned() does it; a copy by the TMA ends an eighth of a microsecond later.
    char* const out = shared.Out(consumer, 0);
    const int column = lane / 16 * 8 + lane % 8;
    const int piece = thread / 32 * 2 + lane / 8 % 2;
    const uint32_t to =
        SharedAddress(out) + column * kSwizzleBytes + (piece ^ column % kSwizzleRows) * 16;
#pragma unroll
    for (int i = 0; i < Tile::kBlockN / 16; ++i) {
      uint32_t matrices[4];
      MatricesOf<Out>(alpha, &d[8 * i], matrices);
      StoreMatrices</*kTurned=*/true>(to + i * 16 * kSwizzleBytes, matrices);
    }
    SyncWarpgroup(1 + consumer);
    StoreStagedRows<Out, Tile::kBlockN, kWarpgroupThreads>(gemm, out, thread, col, row, batch);
  } else {
    constexpr int kOut = Tile::kOutElements;
    const int warp_row = thread / 32 * 16;
#pragma unroll
    for (int chunk = 0; chunk < Tile::kBlockN / kOut; ++chunk) {
      char* const out = shared.Out(consumer, chunk % Tile::kOutBuffers);
      StageChunk<Tile>(alpha, thread, &d[chunk * (kOut / 2)], out);
      __syncwarp();
      StoreStagedRows<Out, 16, 32>(gemm, out + warp_row * kSwizzleBytes, lane, row + warp_row,
                                   col + chunk * kOut, batch);
      __syncwarp();
    }
  }
}

// Fetches both maps, and makes the barriers of the stages: an empty stage needs `readers` arrivals.
// Called by one thread.
template <typename Tile>
__device__ inline void BeginStages(const CUtensorMap& a, const CUtensorMap& b,
                                   const TensorShared<Tile>& shared, int readers) {
  PrefetchMap(a);
  PrefetchMap(b);
#pragma unroll
  for (int i = 0; i < Tile::kStages; ++i) {
    shared.Full(i).Init(1);
    shared.Empty(i).Init(readers);
  }
  Mbarrier::InitDone();
}

// Called with a block for each tile: x along the tile's columns, y along its rows, z the product.
// REQUIRES: beta is 0, and rows of C begin and end at multiples of 16 bytes.
template <typename Tile>
__global__ void __launch_bounds__(kSingleThreads<Tile>, 1)
    TensorSingle(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 const __grid_constant__ TensorGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kConsumerThreads = Tile::kConsumerGroups * kWarpgroupThreads;
  extern __shared__ char raw[];
  const TensorShared<Tile> shared(raw);
  const int row = static_cast<int>(blockIdx.y) * Tile::kBlockM;
  const int col = static_cast<int>(blockIdx.x) * Tile::kBlockN;
  const int batch = static_cast<int>(blockIdx.z);
  const auto load = [&](int k, int stage) {
    shared.Full(stage).ArriveExpecting(Tile::kStageBytes);
    LoadStage(a, b, gemm, shared, stage, row, col, k, batch, 0);
  };
  if (threadIdx.x == kConsumerThreads) {
    BeginStages(a, b, shared, kConsumerThreads / 32);
    WaitForPreviousKernel();  // Which may have made copies of operands.
#pragma unroll
    for (int i = 0; i < Tile::kStages && i * Tile::kBlockK < gemm.k; ++i) {
      load(i * Tile::kBlockK, i);
    }
  }
  __syncthreads();
  PipelineState<Tile::kStages> state;
  if (threadIdx.x >= kConsumerThreads) {
    if (threadIdx.x > kConsumerThreads) return;
#pragma unroll 1
    for (int k = Tile::kStages * Tile::kBlockK; k < gemm.k; k += Tile::kBlockK) {
      shared.Empty(state.stage).Wait(state.phase);
      load(k, state.stage);
      state.Advance();
    }
    return;
  }
  const int consumer = static_cast<int>(threadIdx.x) / kWarpgroupThreads;
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
  float d[Tile::kBlockN / 2];
  const auto release = [&](int stage) {
    if (thread % 32 == 0) shared.Empty(stage).Arrive();
  };
  SumStages(gemm.k, shared, consumer, release, &state, d);
  StoreSingle(gemm, shared, consumer, thread, row + consumer * kMmaRows, col, batch, d);
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_H_
