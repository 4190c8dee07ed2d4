// Correct kernels with wgmma.

#include "common/executor/testdata/hopper_kernels.h"
#include "common/executor/testdata/hopper_operations.h"

namespace stridewise::executor {
namespace {

// One warpgroup fills B's only stage again and again, the other multiplies it. That one thread of
// the second arrives, when it has waited, is enough: all of the multiplication has been done.
__global__ void WgmmaPipeline(int* out, const int* in) {
  constexpr int kSteps = 3;
  __shared__ int8_t a[kRows * kDepth], b[kCols * kDepth];
  __shared__ uint64_t full, empty;
  if (threadIdx.x == 0) {
    INIT(full, kWarpgroup);
    INIT(empty, 1);
  }
  __syncthreads();
  if (threadIdx.x >= kWarpgroup) {
    for (int step = 0; step < kSteps; ++step) {
      if (step > 0) WAIT(empty, (step - 1) % 2);
      StoreB(b, step);
      PROXY_FENCE();
      ARRIVE(full);
    }
    return;
  }
  StoreA(a);
  PROXY_FENCE();
  asm volatile("bar.sync 1, 128;" ::: "memory");
  int d[4] = {in[threadIdx.x], 0, 0, in[threadIdx.x + kWarpgroup]};
  for (int step = 0; step < kSteps; ++step) {
    WAIT(full, step % 2);
    WGMMA_FENCE();
    MULTIPLY(a, b, d);
    WGMMA_COMMIT();
    WGMMA_WAIT();
    if (threadIdx.x == 0) ARRIVE(empty);
  }
  out[threadIdx.x] = d[0];
  out[threadIdx.x + kWarpgroup] = d[3];
}

int WantPipeline(int i) {
  const int t = i % kWarpgroup;
  const int below = i / kWarpgroup;  // d[3]: eight rows below, and the next column.
  const int row = t / 32 * 16 + t % 32 / 4 + 8 * below;
  const int col = t % 4 * 2 + below;
  int sum = 3 * i;
  for (int step = 0; step < 3; ++step) {
    for (int k = 0; k < kDepth; ++k) sum += ElementOfA(row, k) * ElementOfB(col, k, step);
  }
  return sum;
}

// The fence of the threads that multiply, behind the barrier, does as well as one before it. A
// stage is overwritten while a later group, which reads another one, still runs.
__global__ void WgmmaStages(int* out, const int* in) {
  __shared__ int8_t a[kRows * kDepth], b[2][kCols * kDepth];
  if (threadIdx.x < kWarpgroup) {
    StoreA(a);
  } else {
    StoreB(b[0], 0);
    StoreB(b[1], 1);
  }
  __syncthreads();
  PROXY_FENCE();
  int d[4] = {in[threadIdx.x % kWarpgroup], 0, 0, in[threadIdx.x % kWarpgroup + kWarpgroup]};
  WGMMA_FENCE();
  MULTIPLY(a, b[0], d);
  WGMMA_COMMIT();
  MULTIPLY(a, b[1], d);
  WGMMA_COMMIT();
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  __syncthreads();
  if (threadIdx.x >= kWarpgroup) StoreB(b[0], 2);
  PROXY_FENCE();
  __syncthreads();
  MULTIPLY(a, b[0], d);
  WGMMA_COMMIT();
  WGMMA_WAIT();
  if (threadIdx.x >= kWarpgroup) return;
  out[threadIdx.x] = d[0];
  out[threadIdx.x + kWarpgroup] = d[3];
}

// Sums of two groups: the first are read and changed while the second run, over which only an empty
// statement stands, and are added to again behind a fence. Others are out of scope when they end.
__global__ void WgmmaSumsInTurn(int* out, const int* in) {
  __shared__ int8_t a[kRows * kDepth], b[3][kCols * kDepth];
  const int t = threadIdx.x;
  if (t < kWarpgroup) {
    StoreA(a);
  } else {
    for (int step = 0; step < 3; ++step) StoreB(b[step], step);
  }
  PROXY_FENCE();
  __syncthreads();
  int d[4] = {}, e[4] = {};
  WGMMA_FENCE();
  {
    int unused[4] = {};
    MULTIPLY(a, b[0], unused);
    WGMMA_COMMIT();
  }
  MULTIPLY(a, b[0], d);
  WGMMA_COMMIT();
  MULTIPLY(a, b[1], e);
  WGMMA_COMMIT();
  for (int& sum : e) asm volatile("" : "+r"(sum)::"memory");
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  for (int& sum : d) sum += in[t % kWarpgroup] * (&sum == &d[0]);
  d[3] += in[t % kWarpgroup + kWarpgroup];
  WGMMA_FENCE();
  MULTIPLY(a, b[2], d);
  WGMMA_COMMIT();
  WGMMA_WAIT();
  if (t >= kWarpgroup) return;
  out[t] = d[0] + e[0];
  out[t + kWarpgroup] = d[3] + e[3];
}

}  // namespace

std::vector<CorrectKernel> WgmmaKernels() {
  return {
      HOPPER_KERNEL(WgmmaPipeline, WantPipeline),
      HOPPER_KERNEL(WgmmaStages, WantPipeline),
      HOPPER_KERNEL(WgmmaSumsInTurn, WantPipeline),
  };
}

}  // namespace stridewise::executor
