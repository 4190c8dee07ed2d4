#include "common/executor/testdata/hopper_kernels.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

constexpr int kWarpgroup = 128;
constexpr int kElements = 64;
constexpr int kDepth = 32;  // Of k, and bytes of a row of A or column of B.
constexpr int kRows = 64;
constexpr int kCols = 8;

__device__ unsigned SharedAddress(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// Operands of integers: core matrices of 8 rows of 16 bytes, two along k.
__host__ __device__ constexpr int At(int row, int k) {
  return row / 8 * 256 + k / 16 * 128 + row % 8 * 16 + k % 16;
}
__device__ uint64_t Descriptor(const void* tile) {
  return uint64_t{256 >> 4} << 32 | uint64_t{128 >> 4} << 16 | SharedAddress(tile) >> 4;
}
__host__ __device__ constexpr int ElementOfA(int row, int k) { return (row * 3 + k * 5) % 11 - 5; }
__host__ __device__ constexpr int ElementOfB(int col, int k, int step) {
  return (col * 7 + k * 2 + step) % 9 - 4;
}

#define WGMMA_FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WGMMA_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA_WAIT() asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")
#define PROXY_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define MULTIPLY(a, b, d)                                                              \
  asm volatile(                                                                        \
      "{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32." \
      "s8.s8 {%0, %1, %2, %3}, %4, %5, p;}"                                            \
      : "+r"((d)[0]), "+r"((d)[1]), "+r"((d)[2]), "+r"((d)[3])                         \
      : "l"(Descriptor(a)), "l"(Descriptor(b)))
#define INIT(barrier, count) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddress(&barrier)), "r"(count))
#define ARRIVE(barrier)                                                                            \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SharedAddress(&barrier)) : "memor" \
                                                                                           "y")
#define WAIT(barrier, parity)                                                               \
  asm volatile(                                                                             \
      "{.reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done" \
      " bra again;}" ::"r"(SharedAddress(&barrier)),                                        \
      "r"(parity)                                                                           \
      : "memory")

__device__ void StoreA(int8_t* a) {
  for (int i = threadIdx.x; i < kRows * kDepth; i += kWarpgroup) {
    a[At(i / kDepth, i % kDepth)] = static_cast<int8_t>(ElementOfA(i / kDepth, i % kDepth));
  }
}
// As threads 0 to 127 of whoever calls it.
__device__ void StoreB(int8_t* b, int step) {
  for (int i = threadIdx.x % kWarpgroup; i < kCols * kDepth; i += kWarpgroup) {
    b[At(i / kDepth, i % kDepth)] = static_cast<int8_t>(ElementOfB(i / kDepth, i % kDepth, step));
  }
}

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

// --- Defects -----------------------------------------------------------------------------------

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
  Store(out, in, d);
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

template <typename Args, typename... Params>
absl::Status Run(void (*kernel)(Params...), const Args& args, int64_t threads) {
  return Launch(kernel, Grid{1}, Block{threads}, 0, args.stream, args.out, args.in);
}

}  // namespace

#define CORRECT(Kernel, want)                                                                    \
  {                                                                                              \
#Kernel, false, [](const CorrectArgs& args) { return Run(Kernel, args, 2 * kWarpgroup); },   \
                                                                                            want \
  }

std::vector<CorrectKernel> HopperKernels() {
  return {
      CORRECT(WgmmaPipeline, WantPipeline),
      CORRECT(WgmmaStages, WantPipeline),
  };
}

#undef CORRECT
#define BUG(Kernel, check, threads)                                                       \
  {                                                                                       \
#Kernel, Check::check, [](const BugArgs& args) { return Run(Kernel, args, threads); } \
  }

std::vector<PlantedBug> HopperBugs() {
  return {
      BUG(WgmmaOfStoresWithoutProxyFence, kProxyFence, kWarpgroup),
      BUG(WgmmaWithTheProxyFenceTooEarly, kProxyFence, kWarpgroup),
      BUG(WgmmaWithoutBarrier, kRace, kWarpgroup),
      BUG(WgmmaStageOverwritten, kRace, kWarpgroup),
      BUG(WgmmaStageOverwrittenTooEarly, kRace, kWarpgroup),
      BUG(WgmmaStageReleasedBeforeItsWait, kRace, 2 * kWarpgroup),
      BUG(WgmmaNotCommitted, kWgmma, kWarpgroup),
      BUG(WgmmaWithoutFence, kWgmma, kWarpgroup),
      BUG(WgmmaOfThreeWarps, kBarrierDivergence, kWarpgroup),
      BUG(WgmmaWithTwoDescriptors, kWgmma, kWarpgroup),
      BUG(WgmmaBeyondItsTile, kOutOfBounds, kWarpgroup),
      BUG(WgmmaOfUninitialisedRows, kUninitialised, kWarpgroup),
  };
}

#undef BUG

}  // namespace stridewise::executor
