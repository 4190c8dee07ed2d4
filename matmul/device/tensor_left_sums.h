// How sums of the beginning of a tile reach the cluster that has its end (tensor_pieces.h): through
// memory, in the order in which a consumer's threads have them. Those who multiply wait for none of
// it: another warp says that the sums are there, and the producer has the TMA bring them into the
// stages behind the products.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_LEFT_SUMS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_LEFT_SUMS_H_

#include <cstdint>

#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// Says that sums are there. A workspace may hold anything but this number: who has seen it takes it
// away.
constexpr unsigned long long kSumsAreThere = 0x5eed7e450c0de5u;

// A block's sums lie as parts that fit into a stage: of each consumer kVectors vectors of each of
// its threads, those of neighbouring threads side by side.
template <typename Tile>
struct LeftSums {
  static constexpr int kParts = 4;
  static constexpr int kVectors = Tile::kBlockN / 8 / kParts;
  static constexpr int kConsumerBytes = kVectors * kWarpgroupThreads * 16;
  static constexpr int kPartBytes = Tile::kConsumerGroups * kConsumerBytes;
  static_assert(Tile::kBlockN / 8 % kParts == 0 && kPartBytes <= Tile::kStageBytes);

  // Returns where a part of block `block` begins.
  __device__ static float4* Part(const TensorGemm& gemm, int block, int part) {
    return gemm.division.sums + (static_cast<int64_t>(block) * kParts + part) * (kPartBytes / 16);
  }
  __device__ static unsigned long long* Mark(const TensorGemm& gemm, int block) {
    return gemm.division.marks + block;
  }
};

// The barrier, of the block's, at which all consumers and the warp that tells meet.
constexpr int kLeftBarrier = 3;
template <typename Tile>
constexpr int kLeftThreads = Tile::kConsumerGroups* kWarpgroupThreads + 32;

// Leaves a consumer's sums. Called by the whole warpgroup.
template <typename Tile>
__device__ inline void LeaveSums(const TensorGemm& gemm, int consumer, int thread,
                                 const float (&d)[Tile::kBlockN / 2]) {
  using Sums = LeftSums<Tile>;
#pragma unroll
  for (int part = 0; part < Sums::kParts; ++part) {
    float4* const to = Sums::Part(gemm, static_cast<int>(blockIdx.x), part) +
                       consumer * (Sums::kConsumerBytes / 16) + thread;
#pragma unroll
    for (int i = 0; i < Sums::kVectors; ++i) {
      const float* const of = &d[4 * (part * Sums::kVectors + i)];
      to[i * kWarpgroupThreads] = make_float4(of[0], of[1], of[2], of[3]);
    }
  }
  asm volatile("bar.arrive %0, %1;" ::"n"(kLeftBarrier), "n"(kLeftThreads<Tile>) : "memory");
}

// Tells that the block has left its sums, when it has. Called by a whole warp that has nothing else
// to do.
template <typename Tile>
__device__ inline void TellOfSums(const TensorGemm& gemm, int lane) {
  asm volatile("bar.sync %0, %1;" ::"n"(kLeftBarrier), "n"(kLeftThreads<Tile>) : "memory");
  if (lane == 0) {
    __threadfence();
    atomicExch(LeftSums<Tile>::Mark(gemm, static_cast<int>(blockIdx.x)), kSumsAreThere);
  }
}

// Waits until the same block of the cluster before has left its sums. Called by the producer.
template <typename Tile>
__device__ inline void WaitForSums(const TensorGemm& gemm) {
  auto* const mark = LeftSums<Tile>::Mark(gemm, static_cast<int>(blockIdx.x) - Tile::kCluster);
  while (atomicCAS(mark, kSumsAreThere, 0ull) != kSumsAreThere) {
  }
  __threadfence();
  FenceForTmaOfAll();
}

// Starts the copy of a part to a stage.
template <typename Tile>
__device__ inline void LoadSums(const TensorGemm& gemm, const TensorShared<Tile>& shared, int stage,
                                int part) {
  const int block = static_cast<int>(blockIdx.x) - Tile::kCluster;
  shared.Full(stage).ArriveExpecting(LeftSums<Tile>::kPartBytes);
  CopyBytes(LeftSums<Tile>::Part(gemm, block, part), LeftSums<Tile>::kPartBytes, shared.A(stage),
            shared.Full(stage));
}

// Adds the parts that have arrived in the next stages. Called by the whole warpgroup.
template <typename Tile, typename Release>
__device__ inline void AddLeftSums(const TensorShared<Tile>& shared, int consumer, int thread,
                                   Release release, PipelineState<Tile::kStages>* state,
                                   float (&d)[Tile::kBlockN / 2]) {
  using Sums = LeftSums<Tile>;
#pragma unroll
  for (int part = 0; part < Sums::kParts; ++part) {
    shared.Full(state->stage).Wait(state->phase);
    const uint32_t from = shared.A(state->stage) + consumer * Sums::kConsumerBytes + thread * 16;
#pragma unroll
    for (int i = 0; i < Sums::kVectors; ++i) {
      float sums[4];
      LoadSharedVector(from + i * kWarpgroupThreads * 16, sums);
#pragma unroll
      for (int j = 0; j < 4; ++j) d[4 * (part * Sums::kVectors + i) + j] += sums[j];
    }
    __syncwarp();
    release(state->stage);
    state->Advance();
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_LEFT_SUMS_H_
