// Kernels with bulk copies, with one defect each.

#include "common/executor/testdata/hopper_kernels.h"
#include "common/executor/testdata/hopper_operations.h"

namespace stridewise::executor {
namespace {

// A stage of 64 floats, which thread 0 loads.
#define LOADED_STAGE(expected, loaded) \
  __shared__ float s[kElements];       \
  __shared__ uint64_t full;            \
  const int t = threadIdx.x;           \
  if (t == 0) {                        \
    INIT(full, 1);                     \
    EXPECT(full, expected);            \
    BULK_LOAD(s, in, loaded, full);    \
  }                                    \
  __syncthreads()

__global__ void BulkStageReadBeforeItsPhase(float* out, const float* in) {
  LOADED_STAGE(256, 256);
  out[t] = s[t];  // BUG BulkStageReadBeforeItsPhase
  WAIT(full, 0);
}

__global__ void BulkStageLoadedAgain(float* out, const float* in) {
  LOADED_STAGE(256, 256);
  WAIT(full, 0);
  out[t] = s[t];
  if (t == 0) {
    EXPECT(full, 256);
    BULK_LOAD(s, in, 256, full);  // BUG BulkStageLoadedAgain
  }
  WAIT(full, 1);
}

__global__ void BulkLoadOfTooManyBytes(float* out, const float* in) {
  LOADED_STAGE(128, 256);
  WAIT(full, 0);  // BUG BulkLoadOfTooManyBytes
  out[t] = s[t];
}

__global__ void BulkLoadOfTooFewBytes(float* out, const float* in) {
  LOADED_STAGE(256, 128);
  WAIT(full, 0);  // BUG BulkLoadOfTooFewBytes
  out[t] = s[t % 32];
}

__global__ void BulkLoadToAnUnfencedBarrier(float* out, const float* in) {
  __shared__ float s[kElements];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) INIT_UNFENCED(full, 1);
  __syncthreads();
  if (threadIdx.x == 32) {
    EXPECT(full, 256);
    BULK_LOAD(s, in, 256, full);  // BUG BulkLoadToAnUnfencedBarrier
  }
  WAIT(full, 0);
  out[threadIdx.x] = s[threadIdx.x];
}

__global__ void BulkLoadOutOfBounds(float* out, const float* in) {
  __shared__ float s[2 * kElements];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(full, 1);
    EXPECT(full, 272);
    BULK_LOAD(s, in, 272, full);  // BUG BulkLoadOutOfBounds
  }
  __syncthreads();
  WAIT(full, 0);
  out[t] = s[t];
}

__global__ void BulkLoadToAnOddPlace(float* out, const float* in) {
  __shared__ float s[2 * kElements];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(full, 1);
    EXPECT(full, 256);
    BULK_LOAD(s + 1, in, 256, full);  // BUG BulkLoadToAnOddPlace
  }
  __syncthreads();
  WAIT(full, 0);
  out[t] = s[t + 1];
}

__global__ void BulkLoadNotWaitedFor(float* out, const float* in) {
  __shared__ float s[kElements];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    INIT(full, 1);
    EXPECT(full, 256);
    BULK_LOAD(s, in, 256, full);  // BUG BulkLoadNotWaitedFor
  }
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void BulkStoreWithoutProxyFence(float* out, const float* in) {
  __shared__ float s[kElements];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  BULK_STORE(out, s, 256);  // BUG BulkStoreWithoutProxyFence
  BULK_COMMIT();
  BULK_WAIT();
}

__global__ void BulkStoreOverwritten(float* out, const float* in) {
  __shared__ float s[kElements];
  s[threadIdx.x] = in[threadIdx.x];
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(out, s, 256);
    BULK_COMMIT();
  }
  __syncthreads();
  s[threadIdx.x] = 0;  // BUG BulkStoreOverwritten
  if (threadIdx.x == 0) BULK_WAIT();
}

__global__ void BulkStoreNotWaitedFor(float* out, const float* in) {
  __shared__ float s[kElements];
  s[threadIdx.x] = in[threadIdx.x];
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x != 0) return;
  BULK_STORE(out, s, 256);  // BUG BulkStoreNotWaitedFor
  BULK_COMMIT();
}

__global__ void BulkStoreOutOfBounds(float* out, const float* in) {
  __shared__ float s[2 * kElements];
  s[threadIdx.x] = s[threadIdx.x + kElements] = in[threadIdx.x];
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x != 0) return;
  BULK_STORE(out + 4, s, 256);  // BUG BulkStoreOutOfBounds
  BULK_COMMIT();
  BULK_WAIT();
}

}  // namespace

std::vector<PlantedBug> BulkBugs() {
  return {
      HOPPER_BUG(BulkStageReadBeforeItsPhase, kRace, kElements),
      HOPPER_BUG(BulkStageLoadedAgain, kRace, kElements),
      HOPPER_BUG(BulkLoadOfTooManyBytes, kDeadlock, kElements),
      HOPPER_BUG(BulkLoadOfTooFewBytes, kDeadlock, kElements),
      HOPPER_BUG(BulkLoadOutOfBounds, kOutOfBounds, kElements),
      HOPPER_BUG(BulkLoadToAnOddPlace, kBulkCopy, kElements),
      HOPPER_BUG(BulkLoadNotWaitedFor, kBulkCopy, kElements),
      HOPPER_BUG(BulkStoreWithoutProxyFence, kProxyFence, kElements),
      HOPPER_BUG(BulkLoadToAnUnfencedBarrier, kProxyFence, kElements),
      HOPPER_BUG(BulkStoreOverwritten, kRace, kElements),
      HOPPER_BUG(BulkStoreNotWaitedFor, kBulkCopy, kElements),
      HOPPER_BUG(BulkStoreOutOfBounds, kOutOfBounds, kElements),
  };
}

}  // namespace stridewise::executor
