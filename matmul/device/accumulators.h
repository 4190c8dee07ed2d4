// A thread's accumulators, and their way through memory: to and from a block's other slices
// (kWarpsAlongK), and as partial sums of a tile that is split along k.
//
// In memory the four accumulators of a vector are exchanged in pairs. That is for the main loop: a
// vector is stored from four neighbouring registers that begin at a multiple of four, so that the
// accumulator of an even column is in an odd register, where tile_mma.h wants it.

#ifndef STRIDEWISE_MATMUL_DEVICE_ACCUMULATORS_H_
#define STRIDEWISE_MATMUL_DEVICE_ACCUMULATORS_H_

#include <cuda_runtime.h>

#include "matmul/device/block_tile.h"
#include "matmul/device/mma/fma.h"

namespace stridewise {

// A thread's elements of both tiles at one k.
template <typename Tile>
struct Fragment {
  float a[Tile::kThreadM];
  float b[Tile::kThreadN];

  // Loads from the rows of both tiles for that k, which begin at the thread's first vectors.
  __device__ void Load(const float* a_row, const float* b_row) {
#pragma unroll
    for (int i = 0; i < Tile::kThreadM; i += kVector) LoadFour(a_row + i * kLanesM, &a[i]);
#pragma unroll
    for (int i = 0; i < Tile::kThreadN; i += kVector) LoadFour(b_row + i * kLanesN, &b[i]);
  }
};

template <typename Tile>
struct Accumulators {
  typename Tile::Accumulator at[Tile::kThreadM][Tile::kThreadN];

  __device__ void Clear() {
#pragma unroll
    for (int i = 0; i < Tile::kThreadM; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kThreadN; ++j) at[i][j] = 0;
    }
  }

  // Adds the outer product of a fragment's two vectors.
  __device__ void Add(const Fragment<Tile>& fragment) {
    ThreadFma<float, Tile::kThreadM, Tile::kThreadN>::Multiply(fragment.a, fragment.b, at);
  }
};

// Returns four accumulators as they are kept in memory, neighbours exchanged in pairs.
__device__ inline float4 Exchanged(const float* four) {
  return make_float4(four[1], four[0], four[3], four[2]);
}

// Adds what Exchanged() returned for another thread.
__device__ inline void AddExchanged(const float4& more, float* four) {
  four[0] += more.y;
  four[1] += more.x;
  four[2] += more.w;
  four[3] += more.z;
}

// Calls fn(offset, four accumulators) for each vector of a thread. A slice's vectors are numbered
// so that neighbouring threads have neighbouring ones; `offset` counts from the thread's own
// number.
template <typename Tile, typename Fn>
__device__ inline void ForEachVector(Accumulators<Tile>& accumulators, Fn fn) {
#pragma unroll
  for (int i = 0; i < Tile::kThreadM; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kThreadN; j += kVector) {
      fn((i * Tile::kThreadN + j) / kVector * Tile::kSliceThreads, &accumulators.at[i][j]);
    }
  }
}

// The coordinate of a vector's first element in the tile.
struct VectorCoord {
  int row;
  int col;
};

// Returns where the vector of that number, see ForEachVector(), lies.
template <typename Tile>
__device__ inline VectorCoord CoordOfVector(int number) {
  const ThreadCoord<Tile> thread(number % Tile::kSliceThreads);
  const int i = number / Tile::kSliceThreads / (Tile::kThreadN / kVector);
  const int j = number / Tile::kSliceThreads % (Tile::kThreadN / kVector);
  return {thread.warp_row + (i / kVector * kLanesM + thread.lane_row) * kVector + i % kVector,
          thread.warp_col + (j * kLanesN + thread.lane_col) * kVector};
}

// Keeps the accumulators of all slices in `shared`, of kSharedFloats that no other thread reads or
// writes any more: one slice's vectors after the other's.
template <typename Tile>
__device__ inline void KeepSlice(float* shared, int thread, Accumulators<Tile>& accumulators) {
  constexpr int kSliceVectors = Tile::kBlockM * Tile::kBlockN / kVector;
  float4* const mine = reinterpret_cast<float4*>(shared) +
                       thread / Tile::kSliceThreads * kSliceVectors + thread % Tile::kSliceThreads;
  ForEachVector(accumulators,
                [&](int offset, const float* four) { mine[offset] = Exchanged(four); });
  __syncthreads();
}

// Adds the slices' accumulators, in the order of the slices, and calls fn(number, four sums) for
// each vector of the tile; every thread has the same number of calls. `shared` as for KeepSlice().
template <typename Tile, typename Fn>
__device__ inline void ReduceSlices(float* shared, int thread, Accumulators<Tile>& accumulators,
                                    Fn fn) {
  constexpr int kSliceVectors = Tile::kBlockM * Tile::kBlockN / kVector;
  auto* const vectors = reinterpret_cast<float4*>(shared);
  KeepSlice(shared, thread, accumulators);
#pragma unroll
  for (int i = 0; i < kSliceVectors / Tile::kThreads; ++i) {
    const int number = thread + i * Tile::kThreads;
    float four[kVector] = {};
#pragma unroll
    for (int slice = 0; slice < Tile::kWarpsAlongK; ++slice) {
      AddExchanged(vectors[slice * kSliceVectors + number], four);
    }
    fn(number, four);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_ACCUMULATORS_H_
