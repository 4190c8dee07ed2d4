// The start of the kernels of tensor cores whose k is divided by the blocks of a cluster: a ring of
// stages that one thread fills with the TMA and warpgroups multiply.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_STAGE_RING_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_STAGE_RING_H_

#include <cstdint>

#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"

namespace stridewise {

// The k steps of a block.
struct StepRange {
  int first, last;
};

// Returns those of block `rank` of `split`, which divide k among them.
template <int kBlockK>
__device__ inline StepRange StepsOfBlock(int k, int rank, int split) {
  const int steps = (k + kBlockK - 1) / kBlockK;
  return {static_cast<int>(static_cast<int64_t>(rank) * steps / split),
          static_cast<int>(static_cast<int64_t>(rank + 1) * steps / split)};
}

// The shared memory that a StageRing takes beside its stages: barriers have 1024 bytes, and as many
// may be skipped, since the first stage lies at a multiple of 1024.
constexpr int kBytesBesideStages = 2048;

// `count` stages of `stage_bytes` and their barriers, in the shared memory of a block.
template <int kMaxStages>
struct StageRing {
  int stage_bytes;
  Mbarrier* full;
  Mbarrier* empty;
  char* stages;

  __device__ StageRing(char* raw, int bytes) : stage_bytes(bytes) {
    char* const base = raw + (1024 - SharedAddress(raw) % 1024) % 1024;
    full = reinterpret_cast<Mbarrier*>(base);
    empty = full + kMaxStages;
    stages = base + 1024;
  }

  // To be called by one thread, before the others wait.
  __device__ void Init(const int& count, int consumer_warps) const {
    for (int i = 0; i < count; ++i) {
      full[i].Init(1);
      empty[i].Init(consumer_warps);
    }
    Mbarrier::InitDone();
  }

  // Calls load(step, address, barrier) for the steps that find empty stages. Called by the thread
  // that has called Init(), before the others are there: 64 x 4096 x 4096 takes half a microsecond
  // less on an H200.
  template <typename Load>
  __device__ void FillFirst(const StepRange& steps, const int& count, const Load& load) const {
#pragma unroll 1
    for (int i = 0; i < count && steps.first + i < steps.last; ++i) {
      full[i].ArriveExpecting(stage_bytes);
      load(steps.first + i, SharedAddress(stages) + i * stage_bytes, full[i]);
    }
  }

  // Calls load() for the steps behind those of FillFirst(), by one thread.
  template <typename Load>
  __device__ void FillAgain(const StepRange& steps, const int& count, const Load& load) const {
    int stage = 0;
    uint32_t phase = 0;
#pragma unroll 1
    for (int step = steps.first + count; step < steps.last; ++step) {
      empty[stage].Wait(phase);
      full[stage].ArriveExpecting(stage_bytes);
      load(step, SharedAddress(stages) + stage * stage_bytes, full[stage]);
      if (++stage == count) {
        stage = 0;
        phase ^= 1;
      }
    }
  }

  // Calls multiply(step, address), which starts wgmma, for each step, by all consumers. Returns
  // when all of it is done.
  template <typename Multiply>
  __device__ void Drain(const StepRange& steps, const int& count, int lane,
                        const Multiply& multiply) const {
    int stage = 0;
    uint32_t phase = 0;
    int previous = -1;
#pragma unroll 1
    for (int step = steps.first; step < steps.last; ++step) {
      full[stage].Wait(phase);
      const uint32_t at = SharedAddress(stages) + stage * stage_bytes;
      multiply(step, at);
      CommitWgmma();
      WaitForWgmma<1>();
      if (previous >= 0 && lane == 0) empty[previous].Arrive();
      previous = stage;
      if (++stage == count) {
        stage = 0;
        phase ^= 1;
      }
    }
    WaitForWgmma<0>();
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_STAGE_RING_H_
