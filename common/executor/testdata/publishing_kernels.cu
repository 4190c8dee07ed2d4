#include "common/executor/testdata/publishing_kernels.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

constexpr unsigned kBlocks = 6;
constexpr unsigned kThreads = 64;

// The last block adds up what one thread of each block has stored. `kFence`: before the counter is
// advanced, behind it, or nowhere.
enum class FenceAt { kBefore, kAfter, kNowhere, kBlockOnly };
template <FenceAt kFence>
__device__ void LastBlockSums(float* data, unsigned* counter) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 1;
    if (kFence == FenceAt::kBefore) __threadfence();
    if (kFence == FenceAt::kBlockOnly) __threadfence_block();
    last = atomicInc(counter, gridDim.x) == gridDim.x - 1;
    if (kFence == FenceAt::kAfter) __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < gridDim.x) data[64 + threadIdx.x] = data[threadIdx.x];
  if (threadIdx.x == 0) *counter = 0;  // For the next launch; all others have counted.
}

__global__ void Ticket(float* data, unsigned* counters) {
  LastBlockSums<FenceAt::kBefore>(data, counters);
}
__global__ void TicketWithoutFence(float* data, unsigned* counters) {
  LastBlockSums<FenceAt::kNowhere>(data, counters);
}
__global__ void TicketWithLateFence(float* data, unsigned* counters) {
  LastBlockSums<FenceAt::kAfter>(data, counters);
}
__global__ void TicketWithFenceOfTheBlock(float* data, unsigned* counters) {
  LastBlockSums<FenceAt::kBlockOnly>(data, counters);
}

// All threads store and fence, and then one of them counts for the block; or one fences for all,
// behind the barrier.
template <bool kAll>
__device__ void BlockPublishes(float* data, unsigned* counter) {
  __shared__ bool last;
  if (threadIdx.x < 8) data[8 * blockIdx.x + threadIdx.x] = 1;
  if (kAll) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!kAll) __threadfence();
    last = atomicAdd(counter, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) data[64 + threadIdx.x] = data[threadIdx.x % 48];
}
__global__ void AllFence(float* data, unsigned* counters) { BlockPublishes<true>(data, counters); }
__global__ void OneFencesForAll(float* data, unsigned* counters) {
  BlockPublishes<false>(data, counters);
}
// The fence comes before the barrier that would have given it the other threads' stores.
__global__ void FenceBeforeTheBarrier(float* data, unsigned* counters) {
  __shared__ bool last;
  if (threadIdx.x == 0) __threadfence();
  if (threadIdx.x < 8) data[8 * blockIdx.x + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(counters, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) data[64 + threadIdx.x] = data[threadIdx.x % 48];
}

// A lock around a sum of all blocks.
template <bool kFenced>
__device__ void AddUnderLock(float* sum, unsigned* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  if (kFenced) __threadfence();
  *sum += 1;
  if (kFenced) __threadfence();
  atomicExch(lock, 0);
}
__global__ void Lock(float* data, unsigned* counters) { AddUnderLock<true>(data, counters); }
__global__ void LockWithoutFences(float* data, unsigned* counters) {
  AddUnderLock<false>(data, counters);
}

// Block by block: each counts on from what the block before it has stored, if that has run.
template <bool kFenceBehindRead>
__device__ void PassOn(float* data, unsigned* flags) {
  if (threadIdx.x != 0) return;
  float sum = 1;
  if (blockIdx.x > 0 && atomicAdd(&flags[blockIdx.x - 1], 0) != 0) {
    if (kFenceBehindRead) __threadfence();
    for (unsigned i = 0; i < blockIdx.x; ++i) sum += data[i];  // Also what came by way of others.
  } else if (blockIdx.x > 0) {
    return;
  }
  data[blockIdx.x] = sum;
  __threadfence();
  atomicExch(&flags[blockIdx.x], 1);
}
__global__ void Chain(float* data, unsigned* counters) { PassOn<true>(data, counters); }
__global__ void ChainWithoutAcquire(float* data, unsigned* counters) {
  PassOn<false>(data, counters);
}

// What is stored behind the fence is not published.
__global__ void StoreBehindTheFence(float* data, unsigned* counters) {
  if (threadIdx.x != 0) return;
  __threadfence();
  data[blockIdx.x] = 1;
  if (atomicAdd(counters, 1) != gridDim.x - 1) return;
  __threadfence();
  for (unsigned i = 0; i < gridDim.x; ++i) data[64] += data[i];
}
// The last block reads another counter than the one that is advanced behind the fence.
__global__ void OtherCounter(float* data, unsigned* counters) {
  if (threadIdx.x != 0) return;
  data[blockIdx.x] = 1;
  const bool last = atomicAdd(&counters[64], 1) == gridDim.x - 1;
  __threadfence();
  atomicAdd(&counters[blockIdx.x], 1);
  if (!last) return;
  for (unsigned i = 0; i < gridDim.x; ++i) data[64] += data[i];
}
// A flag that is neither atomic nor volatile races itself.
__global__ void PlainFlag(float* data, unsigned* counters) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 1;
    __threadfence();
    counters[0] = 1;
  } else if (counters[0] != 0) {
    __threadfence();
    data[blockIdx.x] = data[0];
  }
}

absl::Status Run(void (*kernel)(float*, unsigned*), float* data, unsigned* counters,
                 cudaStream_t stream) {
  return Launch(kernel, Grid{kBlocks}, Block{kThreads}, 0, stream, data, counters);
}

}  // namespace

#define PUBLISHING(Kernel, correct)                                             \
  PublishingKernel {                                                            \
#Kernel, correct,                                                           \
        [](float* data, unsigned* counters,                                     \
           cudaStream_t stream) { return Run(Kernel, data, counters, stream); } \
  }

std::vector<PublishingKernel> PublishingKernels() {
  return {
      PUBLISHING(Ticket, true),
      PUBLISHING(AllFence, true),
      PUBLISHING(OneFencesForAll, true),
      PUBLISHING(Lock, true),
      PUBLISHING(Chain, true),
      PUBLISHING(TicketWithoutFence, false),
      PUBLISHING(TicketWithLateFence, false),
      PUBLISHING(TicketWithFenceOfTheBlock, false),
      PUBLISHING(FenceBeforeTheBarrier, false),
      PUBLISHING(LockWithoutFences, false),
      PUBLISHING(ChainWithoutAcquire, false),
      PUBLISHING(StoreBehindTheFence, false),
      PUBLISHING(OtherCounter, false),
      PUBLISHING(PlainFlag, false),
  };
}

#undef PUBLISHING

}  // namespace stridewise::executor
