// The kernel of brief.cu: a block computes a tile, or one of the parts of its k, which the blocks
// of a cluster share.
//
// Nothing is read from another block: each adds its slices' sums and stores them in the shared
// memory of the block that finishes that part of the tile. So one barrier of the cluster is all,
// and no block has to wait until another one has read.

#ifndef STRIDEWISE_MATMUL_DEVICE_BRIEF_KERNEL_H_
#define STRIDEWISE_MATMUL_DEVICE_BRIEF_KERNEL_H_

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/brief/tile.h"
#include "matmul/device/cluster.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/tile_order.h"

namespace stridewise {
namespace {  // Each file that includes this has kernels of its own.

// The kernel's argument. Blocks of a grid: the parts of a tile one after the other, then the tiles,
// and the multiplications in y and z.
struct BriefProduct {
  Gemm<Float32> gemm;
  FastDivisor parts;
  FastDivisor tile_cols;
  int64_t batch;
  int k_of_part;  // A multiple of 4.
};

// A block's shared memory: stages of copies, or its slices' sums, and, if its cluster has several
// blocks, what these have added of the part of the tile that this one finishes.
template <typename Form>
struct BriefMemory {
  static constexpr int kExtentK = Form::kExtentK;
  static constexpr int kStages = Form::kStages;
  using A = BriefChunk<Form::kLayoutA, Form::kTileM, kExtentK, Form::kThreads>;
  using B = BriefChunk<Form::kLayoutB, Form::kTileN, kExtentK, Form::kThreads>;
  static constexpr int kStageFloats = A::kFloats + B::kFloats;
  // Rows of a slice's sums: pitches with which a warp's stores of vectors use each bank once.
  static constexpr int kSumsPitch = Form::kTileN + (A::kKMajor ? 16 : kVector);
  static constexpr int kSumsOfSlice = Form::kTileM * kSumsPitch;
  static constexpr int kElements = Form::kTileM * Form::kTileN;
  static constexpr int kRounds = kElements / Form::kThreads;  // A thread's elements.
  static_assert(kRounds * Form::kThreads == kElements, "threads add equal parts");

  // Returns where the sums of a cluster begin.
  __host__ __device__ static int FirstOfCluster(int k_of_part) {
    const int stages = min(kStages, (k_of_part + kExtentK - 1) / kExtentK);
    return max(stages * kStageFloats, Form::kSlices * kSumsOfSlice);
  }
  // Returns the rounds that each block of a cluster finishes.
  __host__ __device__ static int RoundsOfBlock(int parts) { return (kRounds + parts - 1) / parts; }
  static int Floats(int k_of_part, int parts) {
    return FirstOfCluster(k_of_part) +
           (parts > 1 ? parts * RoundsOfBlock(parts) * Form::kThreads : 0);
  }
};

// Stores at what lies at `shared` in the memory of block `rank` of the cluster, whose threads can
// read it after SyncCluster(), and must have begun before.
__device__ inline void StoreInBlock(float value, const float* shared, int rank) {
  [[maybe_unused]] const uint32_t address = AddressInBlock(shared, rank);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
#endif
}

// Adds a warp's products of a tile of which `k_left` k are in the chunks.
template <typename Form>
__device__ inline void MultiplyBrief(const float* a, const float* b, int k_left,
                                     float (&sums)[Form::kLaneM][Form::kLaneN]) {
  using A = typename BriefMemory<Form>::A;
  using B = typename BriefMemory<Form>::B;
  const BriefThread<Form> thread;
  a += A::kKMajor ? thread.warp_row * A::kPitch : thread.warp_row;
  b += B::kKMajor ? thread.warp_col * B::kPitch : thread.warp_col;
#pragma unroll 1
  for (int k = thread.slice * kVector; k < k_left; k += Form::kSlices * kVector) {
    float a_values[kVector][Form::kLaneM];
    float b_values[kVector][Form::kLaneN];
    LoadBrief<A::kKMajor, Form::kLaneM, kBriefLanesM, A::kPitch>(a, thread.lane_row, k, a_values);
    LoadBrief<B::kKMajor, Form::kLaneN, kBriefLanesN, B::kPitch>(b, thread.lane_col, k, b_values);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
#pragma unroll
      for (int row = 0; row < Form::kLaneM; ++row) {
#pragma unroll
        for (int col = 0; col < Form::kLaneN; ++col) {
          sums[row][col] = fma(a_values[i][row], b_values[i][col], sums[row][col]);
        }
      }
    }
  }
}

// Keeps the thread's sums as rows of its slice's tile.
template <typename Form>
__device__ inline void KeepBriefSums(const float (&sums)[Form::kLaneM][Form::kLaneN],
                                     float* shared) {
  using Memory = BriefMemory<Form>;
  constexpr bool kAlongK = Memory::B::kKMajor;
  const BriefThread<Form> thread;
#pragma unroll
  for (int i = 0; i < Form::kLaneM; ++i) {
    const int row_of_warp =
        BriefElement<Memory::A::kKMajor, Form::kLaneM, kBriefLanesM>(thread.lane_row, i);
    float* const row = shared + thread.slice * Memory::kSumsOfSlice +
                       (thread.warp_row + row_of_warp) * Memory::kSumsPitch + thread.warp_col;
    constexpr int kTogether = !kAlongK && Form::kLaneN % kVector == 0 ? kVector : 1;
#pragma unroll
    for (int j = 0; j < Form::kLaneN; j += kTogether) {
      float* const to = row + BriefElement<kAlongK, Form::kLaneN, kBriefLanesN>(thread.lane_col, j);
      if constexpr (kTogether == kVector) {
        StoreFour(to, &sums[i][j]);
      } else {
        *to = sums[i][j];
      }
    }
  }
}

// Each multiple of kThreads elements of a tile, counted along its rows, is a round, in which a
// thread adds the slices' sums of one element.
template <typename Form>
__device__ inline float SumOfRound(const float* shared, int round) {
  using Memory = BriefMemory<Form>;
  const int element = static_cast<int>(threadIdx.x) + round * Form::kThreads;
  const float* const from =
      shared + element / Form::kTileN * Memory::kSumsPitch + element % Form::kTileN;
  float sum = 0;
#pragma unroll
  for (int slice = 0; slice < Form::kSlices; ++slice) sum += from[slice * Memory::kSumsOfSlice];
  return sum;
}

template <typename Form>
__global__ void __launch_bounds__(Form::kThreads) Brief(BriefProduct product) {
  using Memory = BriefMemory<Form>;
  using A = typename Memory::A;
  using B = typename Memory::B;
  constexpr int kExtentK = Memory::kExtentK;
  constexpr int kStages = Memory::kStages;
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const int64_t index = static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (index >= product.batch) return;
  const auto parts = static_cast<int>(product.parts.divisor());
  const uint32_t tile = product.parts.Quotient(blockIdx.x);
  const auto part = static_cast<int>(blockIdx.x - tile * product.parts.divisor());
  // Waited for before the first store in another block's memory: by then that block has begun.
  if (parts > 1) ArriveAtCluster</*kRelease=*/false>();
  const uint32_t tile_row = product.tile_cols.Quotient(tile);
  const int64_t first_row = int64_t{tile_row} * Form::kTileM;
  const int64_t first_col = int64_t{tile - tile_row * product.tile_cols.divisor()} * Form::kTileN;
  const Gemm<Float32>& gemm = product.gemm;
  const auto rows = static_cast<int>(min(gemm.a.mn - first_row, int64_t{Form::kTileM}));
  const auto cols = static_cast<int>(min(gemm.b.mn - first_col, int64_t{Form::kTileN}));
  const int first_k = part * product.k_of_part;
  const int k = max(min(gemm.k - first_k, product.k_of_part), 0);
  const float* a = gemm.a.data + index * gemm.stride_a +
                   (A::kKMajor ? first_row * gemm.a.ld + first_k : first_k * gemm.a.ld + first_row);
  const float* b = gemm.b.data + index * gemm.stride_b +
                   (B::kKMajor ? first_col * gemm.b.ld + first_k : first_k * gemm.b.ld + first_col);
  int k_to_copy = k;
  const auto copy = [&](int stage) {
    if (k_to_copy > 0) {
      const int k_left = min(k_to_copy, kExtentK);
      float* const to = shared + stage * Memory::kStageFloats;
      A::Copy(a, gemm.a.ld, gemm.a.vectors, rows, k_left, to);
      B::Copy(b, gemm.b.ld, gemm.b.vectors, cols, k_left, to + A::kFloats);
      a += A::kKMajor ? kExtentK : kExtentK * gemm.a.ld;
      b += B::kKMajor ? kExtentK : kExtentK * gemm.b.ld;
      k_to_copy -= kExtentK;
    }
    __pipeline_commit();
  };

  float sums[Form::kLaneM][Form::kLaneN] = {};
  if constexpr (kStages == 1) {
    copy(0);
    __pipeline_wait_prior(0);
    __syncthreads();
    MultiplyBrief<Form>(shared, shared + A::kFloats, k, sums);
  } else {
#pragma unroll 1
    for (int stage = 0; stage < kStages; ++stage) copy(stage);
    int stage = 0;
#pragma unroll 1
    for (int k_left = k; k_left > 0; k_left -= kExtentK) {
      __pipeline_wait_prior(kStages - 1);
      __syncthreads();  // This chunk has arrived.
      const float* const chunk = shared + stage * Memory::kStageFloats;
      MultiplyBrief<Form>(chunk, chunk + A::kFloats, min(k_left, kExtentK), sums);
      if (k_to_copy > 0) __syncthreads();  // No thread reads it any more.
      copy(stage);
      stage = stage == kStages - 1 ? 0 : stage + 1;
    }
  }
  __syncthreads();  // No thread reads the last chunk.
  KeepBriefSums<Form>(sums, shared);
  __syncthreads();

  float* const c = gemm.c.data + index * gemm.stride_c + first_row * gemm.c.ld + first_col;
  const auto store = [&](int round, float sum) {
    const int element = static_cast<int>(threadIdx.x) + round * Form::kThreads;
    const int row = element / Form::kTileN;
    const int col = element % Form::kTileN;
    if (row < rows && col < cols) gemm.epilogue.Store(sum, &c[row * gemm.c.ld + col]);
  };
  if (parts == 1) {
#pragma unroll
    for (int round = 0; round < Memory::kRounds; ++round) {
      store(round, SumOfRound<Form>(shared, round));
    }
    return;
  }
  const int rounds = Memory::RoundsOfBlock(parts);
  float* const of_cluster =
      shared + Memory::FirstOfCluster(product.k_of_part) + static_cast<int>(threadIdx.x);
  WaitForCluster();
  int owner = 0;
  int round_of_owner = 0;
#pragma unroll
  for (int round = 0; round < Memory::kRounds; ++round) {
    StoreInBlock(SumOfRound<Form>(shared, round),
                 of_cluster + (part * rounds + round_of_owner) * Form::kThreads, owner);
    if (++round_of_owner == rounds) {
      round_of_owner = 0;
      ++owner;
    }
  }
  SyncCluster();
  for (int i = 0; i < rounds && part * rounds + i < Memory::kRounds; ++i) {
    float sum = 0;
#pragma unroll 4
    for (int other = 0; other < parts; ++other) {
      sum += of_cluster[(other * rounds + i) * Form::kThreads];
    }
    store(part * rounds + i, sum);
  }
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_BRIEF_KERNEL_H_
