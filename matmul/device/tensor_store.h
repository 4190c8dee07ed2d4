// How a consumer of tensor_kernel.h stores its part of a tile: through shared memory by the TMA, or
// element by element.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_STORE_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_STORE_H_

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "matmul/device/epilogue.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// Returns the factors of sums and of C: integers where C is.
template <typename Tile>
__device__ inline typename Tile::Accumulator AlphaOf(const TensorGemm& gemm) {
  if constexpr (std::is_same_v<typename Tile::Accumulator, int>) {
    return gemm.whole_alpha;
  } else if constexpr (sizeof(typename Tile::Element) == 1) {
    return gemm.alpha * ScaleOfAll(gemm.scales);
  } else {
    return gemm.alpha;
  }
}
template <typename Tile>
__device__ inline typename Tile::Accumulator BetaOf(const TensorGemm& gemm) {
  if constexpr (std::is_same_v<typename Tile::Accumulator, int>) {
    return gemm.whole_beta;
  } else {
    return gemm.beta;
  }
}

// Two neighbours of C.
__device__ inline void StorePair(int x, int y, int* to) {
  *reinterpret_cast<int2*>(to) = make_int2(x, y);
}
__device__ inline void StorePair(float x, float y, float* to) {
  *reinterpret_cast<float2*>(to) = make_float2(x, y);
}
__device__ inline void StorePair(float x, float y, __nv_bfloat16* to) {
  *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(x, y);
}
__device__ inline void StorePair(float x, float y, __half* to) {
  *reinterpret_cast<__half2*>(to) = __floats2half2_rn(x, y);
}

// Sets `matrices` to four 8x8 matrices of an accumulator, times alpha: the warp's upper and lower
// eight rows of eight columns, and those of the next eight.
template <typename Out>
__device__ inline void MatricesOf(float alpha, const float* d, uint32_t (&matrices)[4]) {
  static_assert(sizeof(Out) == 2);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    StorePair(alpha * d[2 * i], alpha * d[2 * i + 1], reinterpret_cast<Out*>(&matrices[i]));
  }
}

// Converts a consumer's 64 rows of a chunk of 128 bytes, and stores them in shared memory.
template <typename Tile>
__device__ inline void StageChunk(typename Tile::Accumulator alpha, int thread,
                                  const typename Tile::Accumulator* d, char* out) {
  using Out = typename Tile::Out;
  constexpr int kOut = Tile::kOutElements;
  const int lane = thread % 32;
  if constexpr (sizeof(Out) == 2 && !Tile::kAInRegisters) {
    // A quarter of the instructions that stores of pairs are.
    const int row = thread / 32 * 16 + lane % 16;
    const uint32_t to = SharedAddress(out) + row * kSwizzleBytes;
#pragma unroll
    for (int i = 0; i < kOut / 16; ++i) {
      uint32_t matrices[4];
      MatricesOf<Out>(alpha, d + 8 * i, matrices);
      const int piece = 2 * i + lane / 16;
      StoreMatrices</*kTurned=*/false>(to + (piece ^ row % kSwizzleRows) * 16, matrices);
    }
  } else {
    constexpr int kBelow = Tile::kAInRegisters ? 4 : 8;
    const int row = TensorRow<Tile>(thread);
#pragma unroll
    for (int j = 0; j < kOut / 8; ++j) {
      const int byte = (8 * j + lane % 4 * 2) * static_cast<int>(sizeof(Out));
      const int offset = row * kSwizzleBytes + ((byte / 16 ^ row % kSwizzleRows) * 16) + byte % 16;
      StorePair(alpha * d[4 * j], alpha * d[4 * j + 1], reinterpret_cast<Out*>(out + offset));
      const int below = kBelow == kSwizzleRows ? offset : offset ^ kBelow * 16;
      StorePair(alpha * d[4 * j + 2], alpha * d[4 * j + 3],
                reinterpret_cast<Out*>(out + below + kBelow * kSwizzleBytes));
    }
  }
}

// Stores a consumer's 64 rows through shared memory. Called by the whole warpgroup.
template <typename Tile>
__device__ inline void StoreByTma(const CUtensorMap& c, const TensorGemm& gemm,
                                  const TensorShared<Tile>& shared, int consumer, int thread,
                                  int row, int col, int batch,
                                  const typename Tile::Accumulator (&d)[Tile::kBlockN / 2]) {
  constexpr int kOut = Tile::kOutElements;
  constexpr int kChunks = Tile::kBlockN / kOut;
  const auto alpha = AlphaOf<Tile>(gemm);
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    char* const out = shared.Out(consumer, chunk % Tile::kOutBuffers);
    // The buffer's previous store must have read it. With an odd number of chunks the first of a
    // tile uses the buffer of the last one of the tile before.
    if (thread == 0) {
      if (chunk == 0 && kChunks % Tile::kOutBuffers != 0) {
        WaitUntilStoresHaveRead<0>();
      } else {
        WaitUntilStoresHaveRead<Tile::kOutBuffers - 1>();
      }
    }
    SyncWarpgroup(1 + consumer);
    StageChunk<Tile>(alpha, thread, &d[chunk * (kOut / 2)], out);
    FenceForTma();
    SyncWarpgroup(1 + consumer);
    if (thread == 0) {
      StoreBox(c, col + chunk * kOut, row, batch, SharedAddress(out));
      CommitStores();
    }
  }
}

// Stores a consumer's 64 rows element by element: for C that the TMA cannot address, or beta != 0.
template <typename Tile>
__device__ inline void StoreDirectly(const TensorGemm& gemm, int thread, int row, int col,
                                     int batch,
                                     const typename Tile::Accumulator (&d)[Tile::kBlockN / 2]) {
  using Out = typename Tile::Out;
  Out* const c = static_cast<Out*>(gemm.c) + batch * gemm.stride_c;
  const int lane = thread % 32;
  const int first_row = row + TensorRow<Tile>(thread);
  const int first_col = col + lane % 4 * 2;
  const auto alpha = AlphaOf<Tile>(gemm);
  const auto beta = BetaOf<Tile>(gemm);
#pragma unroll
  for (int i = 0; i < Tile::kBlockN / 2; ++i) {
    const int r = first_row + i / 2 % 2 * (Tile::kAInRegisters ? 4 : 8);
    const int s = first_col + i / 4 * 8 + i % 2;
    if (r >= gemm.m || s >= gemm.n) continue;
    Out& out = Tile::kAInRegisters && gemm.c_transposed ? c[s * gemm.ldc + r] : c[r * gemm.ldc + s];
    auto value = alpha * d[i];
    if (beta != 0) value = MultiplyAddOnce(beta, static_cast<decltype(value)>(out), value);
    out = static_cast<Out>(value);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_STORE_H_
