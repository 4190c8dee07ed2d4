// The main loop: a block's tile of op(A) * op(B), in registers.
//
// What bounds it is the issue of instructions: a multiprocessor's quarter issues one a clock, and
// at best that is an fma. A thread with 8 x 16 elements has 128 fma a term, 6 loads from shared
// memory and, with all else, 6 more instructions: 91 % are fma. To keep the rest of the clocks:
//
// - Fragments are double buffered: while one term is multiplied the next one's elements of A and B
//   are loaded from shared memory. Tiles are kStages deep: copies from global memory have kStages -
//   1 tiles' time to arrive.
// - A register file has two banks, even and odd registers, of one read a clock each, and an fma
//   reads three registers. One of them, A's, serves a row of fma and is kept (.reuse); the other
//   two should be one even and one odd. B's come in vectors, so that column c is in a register of
//   c's parity; tile_store.h sees to it that the sum for column c is in one of the other parity.
//   Without that the same loop is 5 % slower.
// - From row to row of fma the columns go forth and back, so that at the turn B's register is kept.
// - The loop's body is two terms. Unrolled further, the compiler mixes fma of different rows, which
//   costs .reuse and so reads: 6 % with four terms.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_PRODUCT_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_PRODUCT_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "matmul/device/block_tile.h"

namespace stridewise {

// What a thread needs of one term.
template <typename Tile>
struct Fragment {
  float a[Tile::kThreadRows];
  float b[Tile::kThreadCols];

  // From a term's rows of both tiles, at the thread's first vectors.
  __device__ void Load(const float* a_row, const float* b_row) {
#pragma unroll
    for (int i = 0; i < Tile::kThreadRows; i += kVector) LoadVector(a_row + i * kLaneRows, &a[i]);
#pragma unroll
    for (int i = 0; i < Tile::kThreadCols; i += kVector) LoadVector(b_row + i * kLaneCols, &b[i]);
  }

  __device__ static void LoadVector(const float* from, float* to) {
    const float4 vector = *reinterpret_cast<const float4*>(from);
    to[0] = vector.x;
    to[1] = vector.y;
    to[2] = vector.z;
    to[3] = vector.w;
  }
};

template <typename Tile>
struct Sums {
  float at[Tile::kThreadRows][Tile::kThreadCols];

  __device__ void Clear() {
#pragma unroll
    for (int i = 0; i < Tile::kThreadRows; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kThreadCols; ++j) at[i][j] = 0;
    }
  }

  __device__ void Add(const Fragment<Tile>& term) {
#pragma unroll
    for (int i = 0; i < Tile::kThreadRows; ++i) {
#pragma unroll
      for (int k = 0; k < Tile::kThreadCols; ++k) {
        const int j = i % 2 == 0 ? k : Tile::kThreadCols - 1 - k;
        at[i][j] = fma(term.a[i], term.b[j], at[i][j]);
      }
    }
  }
};

template <int kValue>
using Constant = std::integral_constant<int, kValue>;

// Calls fn(Constant<0>()) to fn(Constant<kParts - 1>()).
template <int kParts, int kFirst = 0, typename Fn>
__device__ inline void ForEachPart(Fn& fn) {
  if constexpr (kFirst < kParts) {
    fn(Constant<kFirst>());
    ForEachPart<kParts, kFirst + 1>(fn);
  }
}

// Calls fn(place, four sums) for each vector of a thread's sums: a place for it among those of a
// slice's threads, where neighbouring threads have neighbouring ones, from the thread's own on.
template <typename Tile, typename Fn>
__device__ inline void ForEachVector(Sums<Tile>& sums, Fn fn) {
#pragma unroll
  for (int i = 0; i < Tile::kThreadRows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kThreadCols; j += kVector) {
      fn((i * Tile::kThreadCols + j) / kVector * Tile::kSliceThreads, &sums.at[i][j]);
    }
  }
}

// Four sums as they are kept outside of registers, neighbours exchanged in pairs: see tile_store.h.
__device__ inline float4 Exchanged(const float* four) {
  return make_float4(four[1], four[0], four[3], four[2]);
}
__device__ inline void AddExchanged(const float4& more, float* four) {
  four[0] += more.y;
  four[1] += more.x;
  four[2] += more.w;
  four[3] += more.z;
}

// Where in the tile such a vector lies, by its place.
struct TileVector {
  int row;
  int col;
};
template <typename Tile>
__device__ inline TileVector VectorAt(int place) {
  const ThreadPlace<Tile> thread(place % Tile::kSliceThreads);
  const int i = place / Tile::kSliceThreads / (Tile::kThreadCols / kVector);
  const int j = place / Tile::kSliceThreads % (Tile::kThreadCols / kVector);
  return {thread.warp_row + (i / kVector * kLaneRows + thread.lane_row) * kVector + i % kVector,
          thread.warp_col + (j * kLaneCols + thread.lane_col) * kVector};
}

// Calls fn(place, four sums) for each vector of the tile, the sums of all slices, added in their
// order: each thread for as many as another. `shared` as for AddProduct().
template <typename Tile, typename Fn>
__device__ inline void AddSlices(float* shared, int thread, Sums<Tile>& sums, Fn fn) {
  constexpr int kSliceVectors = Tile::kRows * Tile::kCols / kVector;
  auto* const vectors = reinterpret_cast<float4*>(shared);
  float4* const mine =
      vectors + thread / Tile::kSliceThreads * kSliceVectors + thread % Tile::kSliceThreads;
  ForEachVector(sums, [&](int place, const float* four) { mine[place] = Exchanged(four); });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kSliceVectors / Tile::kThreads; ++i) {
    const int place = thread + i * Tile::kThreads;
    float four[kVector] = {};
#pragma unroll
    for (int slice = 0; slice < Tile::kSlices; ++slice) {
      AddExchanged(vectors[slice * kSliceVectors + place], four);
    }
    fn(place, four);
  }
}

struct ProductExtent {
  int a_lines;
  int b_lines;
  int terms;
};

// Adds what copy_a and copy_b bring in `steps` steps of kDepth terms. `extent` is what they may
// bring: lines of A and of B and terms, from the copiers' first on. `shared` has kSharedFloats and
// belongs to the block alone from the call's begin to its end.
//
// A stage's copies are started in kParts parts, spread over the terms of another stage: many of
// them in a row fill the queue of the load/store unit, and loads from shared memory wait behind
// them.
template <typename Tile, int kParts, typename CopierA, typename CopierB>
__device__ inline void AddProduct(CopierA& copy_a, CopierB& copy_b, int steps,
                                  const ProductExtent& extent, float* shared, int thread,
                                  Sums<Tile>& sums) {
  const ThreadPlace<Tile> place(thread);
  const int first_term = place.slice * Tile::kSliceDepth;
  const float* const a_first =
      shared + first_term * CopierA::kPitch + place.warp_row + place.lane_row * kVector;
  const float* const b_first = shared + Tile::kTileOfB + first_term * CopierB::kPitch +
                               place.warp_col + place.lane_col * kVector;
  const int inside_steps = extent.a_lines >= Tile::kRows && extent.b_lines >= Tile::kCols
                               ? min(extent.terms / Tile::kDepth, steps)
                               : 0;
  int write_stage = 0;
  const auto copy_part = [&](int step, auto part, auto parts) {
    float* const a = shared + write_stage * Tile::kStageFloats;
    if (step < inside_steps) {
      copy_a.template CopyInside<decltype(part)::value, decltype(parts)::value>(a, thread);
      copy_b.template CopyInside<decltype(part)::value, decltype(parts)::value>(a + Tile::kTileOfB,
                                                                                thread);
    } else if (decltype(part)::value == 0 && step < steps) {
      const int terms = extent.terms - step * Tile::kDepth;
      copy_a.CopyEdge(a, thread, {extent.a_lines, terms});
      copy_b.CopyEdge(a + Tile::kTileOfB, thread, {extent.b_lines, terms});
    }
  };
  // A group of copies a stage, empty or not, so that waiting for all but the last kStages - 2
  // groups is waiting for the next stage.
  const auto next_stage = [](int stage) { return stage == Tile::kStages - 1 ? 0 : stage + 1; };
  for (; write_stage < Tile::kStages - 1; ++write_stage) {
    copy_part(write_stage, Constant<0>(), Constant<1>());
    __pipeline_commit();
  }
  __pipeline_wait_prior(Tile::kStages - 2);
  __syncthreads();

  Fragment<Tile> even;
  Fragment<Tile> odd;
  even.Load(a_first, b_first);
  int read_stage = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const float* a = a_first + read_stage * Tile::kStageFloats;
    const float* b = b_first + read_stage * Tile::kStageFloats;
    const auto add_pairs = [&](auto part) {
      constexpr int kPairs = Tile::kSliceDepth / 2 - 1;
      constexpr int kPart = decltype(part)::value;
      copy_part(step + Tile::kStages - 1, part, Constant<kParts>());
#pragma unroll 1
      for (int i = kPairs * kPart / kParts; i < kPairs * (kPart + 1) / kParts; ++i) {
        odd.Load(a + CopierA::kPitch, b + CopierB::kPitch);
        sums.Add(even);
        even.Load(a + 2 * CopierA::kPitch, b + 2 * CopierB::kPitch);
        sums.Add(odd);
        a += 2 * CopierA::kPitch;
        b += 2 * CopierB::kPitch;
      }
    };
    ForEachPart<kParts>(add_pairs);
    __pipeline_commit();
    write_stage = next_stage(write_stage);
    odd.Load(a + CopierA::kPitch, b + CopierB::kPitch);
    sums.Add(even);
    // The last term of this stage is in registers: it may be written, and the next one be read.
    __pipeline_wait_prior(Tile::kStages - 2);
    __syncthreads();
    // After the last step the same stage again: there must be something to read.
    if (step + 1 < steps) read_stage = next_stage(read_stage);
    even.Load(a_first + read_stage * Tile::kStageFloats, b_first + read_stage * Tile::kStageFloats);
    sums.Add(odd);
  }
  // Nobody reads any more, not even the term behind the last.
  __syncthreads();
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_PRODUCT_H_
