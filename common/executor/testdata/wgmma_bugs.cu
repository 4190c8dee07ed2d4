// Kernels with wgmma, with one defect each.

#include "common/executor/testdata/hopper_kernels.h"
#include "common/executor/testdata/hopper_operations.h"

namespace stridewise::executor {
namespace {

// Tiles that 128 threads store together.
#define TILES()                                           \
  __shared__ int8_t a[kRows * kDepth], b[kCols * kDepth]; \
  int d[4] = {};                                          \
  StoreA(a);                                              \
  StoreB(b, 0)

__device__ void Store(float* out, const float* in, const int (&d)[4]) {
  if (threadIdx.x < kElements) out[threadIdx.x] = in[threadIdx.x] + static_cast<float>(d[0]);
}

__global__ void WgmmaOfStoresWithoutProxyFence(float* out, const float* in) {
  TILES();
  __syncthreads();
  WGMMA_FENCE();
  MULTIPLY(a, b, d);  // BUG WgmmaOfStoresWithoutProxyFence
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, d);
}

__global__ void WgmmaWithTheProxyFenceTooEarly(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 5) b[0] = 1;
  __syncthreads();
  WGMMA_FENCE();
  MULTIPLY(a, b, d);  // BUG WgmmaWithTheProxyFenceTooEarly
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, d);
}

__global__ void WgmmaWithoutBarrier(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  WGMMA_FENCE();
  MULTIPLY(a, b, d);  // BUG WgmmaWithoutBarrier
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, d);
}

#define FENCED_TILES() \
  TILES();             \
  PROXY_FENCE();       \
  __syncthreads();     \
  WGMMA_FENCE()

__global__ void WgmmaSumsReadBeforeTheWait(float* out, const float* in) {
  FENCED_TILES();
  MULTIPLY(a, b, d);
  WGMMA_COMMIT();
  const int sum = d[1];  // BUG WgmmaSumsReadBeforeTheWait
  WGMMA_WAIT();
  if (threadIdx.x < kElements) out[threadIdx.x] = static_cast<float>(sum);
}

// The wait is for the group before.
__global__ void WgmmaSumsReadTooEarly(float* out, const float* in) {
  FENCED_TILES();
  int e[4] = {};
  MULTIPLY(a, b, d);
  WGMMA_COMMIT();
  MULTIPLY(a, b, e);
  WGMMA_COMMIT();
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  const int sum = d[0] + e[3];  // BUG WgmmaSumsReadTooEarly
  WGMMA_WAIT();
  if (threadIdx.x < kElements) out[threadIdx.x] = static_cast<float>(sum);
}

// A copy of sums that are not committed yet.
__global__ void WgmmaSumsPassedOnTooEarly(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  __syncthreads();
  struct {
    int d[4];
  } sums = {{d[0], 0, 0, 0}}, copy;
  WGMMA_FENCE();
  MULTIPLY(a, b, sums.d);
  copy = sums;  // BUG WgmmaSumsPassedOnTooEarly
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, copy.d);
}

__global__ void WgmmaSumsChangedWithoutFence(float* out, const float* in) {
  FENCED_TILES();
  MULTIPLY(a, b, d);
  WGMMA_COMMIT();
  WGMMA_WAIT();
  d[2] *= 2;
  MULTIPLY(a, b, d);  // BUG WgmmaSumsChangedWithoutFence
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, d);
}

__global__ void WgmmaStageOverwritten(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  __syncthreads();
  WGMMA_FENCE();
  MULTIPLY(a, b, d);
  WGMMA_COMMIT();
  __syncthreads();
  if (threadIdx.x == 77) b[3] = 1;  // BUG WgmmaStageOverwritten
  WGMMA_WAIT();
  Store(out, in, d);
}

__global__ void WgmmaStageOverwrittenTooEarly(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  __syncthreads();
  WGMMA_FENCE();
  MULTIPLY(a, b, d);
  WGMMA_COMMIT();
  MULTIPLY(a, b, d);
  WGMMA_COMMIT();
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 77) a[3] = 1;  // BUG WgmmaStageOverwrittenTooEarly
  WGMMA_WAIT();
  Store(out, in, d);
}

// The second warpgroup overwrites what the first one reads, behind a barrier that it left before
// its wait.
__global__ void WgmmaStageReleasedBeforeItsWait(float* out, const float* in) {
  __shared__ int8_t a[kRows * kDepth], b[kCols * kDepth];
  __shared__ uint64_t empty;
  int d[4] = {};
  if (threadIdx.x == 0) INIT(empty, 1);
  if (threadIdx.x < kWarpgroup) {
    StoreA(a);
    StoreB(b, 0);
  }
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x >= kWarpgroup) {
    WAIT(empty, 0);
    b[threadIdx.x] = 0;  // BUG WgmmaStageReleasedBeforeItsWait
    return;
  }
  WGMMA_FENCE();
  MULTIPLY(a, b, d);
  WGMMA_COMMIT();
  if (threadIdx.x == 0) ARRIVE(empty);
  WGMMA_WAIT();
  Store(out, in, d);
}

__global__ void WgmmaNotCommitted(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  __syncthreads();
  WGMMA_FENCE();
  MULTIPLY(a, b, d);  // BUG WgmmaNotCommitted
  WGMMA_WAIT();
  if (threadIdx.x < kElements) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void WgmmaWithoutFence(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  __syncthreads();
  MULTIPLY(a, b, d);  // BUG WgmmaWithoutFence
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, d);
}

__global__ void WgmmaOfThreeWarps(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x >= 96) return;
  WGMMA_FENCE();
  MULTIPLY(a, b, d);  // BUG WgmmaOfThreeWarps
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, d);
}

__global__ void WgmmaWithTwoDescriptors(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  __syncthreads();
  WGMMA_FENCE();
  MULTIPLY(a, (threadIdx.x < 32 ? a : b), d);  // BUG WgmmaWithTwoDescriptors
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, d);
}

__global__ void WgmmaBeyondItsTile(float* out, const float* in) {
  TILES();
  PROXY_FENCE();
  __syncthreads();
  WGMMA_FENCE();
  MULTIPLY(a + 512, b, d);  // BUG WgmmaBeyondItsTile
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, d);
}

__global__ void WgmmaOfUninitialisedRows(float* out, const float* in) {
  __shared__ int8_t a[kRows * kDepth], b[kCols * kDepth];
  int d[4] = {};
  StoreB(b, 0);
  PROXY_FENCE();
  __syncthreads();
  WGMMA_FENCE();
  MULTIPLY(a, b, d);  // BUG WgmmaOfUninitialisedRows
  WGMMA_COMMIT();
  WGMMA_WAIT();
  Store(out, in, d);
}

}  // namespace

std::vector<PlantedBug> WgmmaBugs() {
  return {
      HOPPER_BUG(WgmmaOfStoresWithoutProxyFence, kProxyFence, kWarpgroup),
      HOPPER_BUG(WgmmaWithTheProxyFenceTooEarly, kProxyFence, kWarpgroup),
      HOPPER_BUG(WgmmaWithoutBarrier, kRace, kWarpgroup),
      HOPPER_BUG(WgmmaStageOverwritten, kRace, kWarpgroup),
      HOPPER_BUG(WgmmaStageOverwrittenTooEarly, kRace, kWarpgroup),
      HOPPER_BUG(WgmmaStageReleasedBeforeItsWait, kRace, 2 * kWarpgroup),
      HOPPER_BUG(WgmmaNotCommitted, kWgmma, kWarpgroup),
      HOPPER_BUG(WgmmaWithoutFence, kWgmma, kWarpgroup),
      HOPPER_BUG(WgmmaSumsReadBeforeTheWait, kWgmma, kWarpgroup),
      HOPPER_BUG(WgmmaSumsReadTooEarly, kWgmma, kWarpgroup),
      HOPPER_BUG(WgmmaSumsPassedOnTooEarly, kWgmma, kWarpgroup),
      HOPPER_BUG(WgmmaSumsChangedWithoutFence, kWgmma, kWarpgroup),
      HOPPER_BUG(WgmmaOfThreeWarps, kBarrierDivergence, kWarpgroup),
      HOPPER_BUG(WgmmaWithTwoDescriptors, kWgmma, kWarpgroup),
      HOPPER_BUG(WgmmaBeyondItsTile, kOutOfBounds, kWarpgroup),
      HOPPER_BUG(WgmmaOfUninitialisedRows, kUninitialised, kWarpgroup),
  };
}

}  // namespace stridewise::executor
