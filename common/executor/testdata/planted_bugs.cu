#include <cuda_pipeline.h>

#include "common/executor/testdata/planted_bugs.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

constexpr int kElements = 64;

__global__ void OutOfBounds(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= kElements) out[i] = 1;  // BUG OutOfBounds
}

__global__ void BeforeTheStart(float* out, const float* in) {
  out[threadIdx.x] = in[static_cast<int>(threadIdx.x) - 1];  // BUG BeforeTheStart
}

__global__ void SharedOutOfBounds(float* out, const float* in) {
  __shared__ float s[kElements];
  s[threadIdx.x + 1] = in[threadIdx.x];  // BUG SharedOutOfBounds
  if (threadIdx.x == 0) s[0] = 0;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

__global__ void WildPointer(float* out, const float* in) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG WildPointer
}

__global__ void NullPointer(float* out, const float* in) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG NullPointer
}

__global__ void Misaligned(float* out, const float* in) {
  auto* to = reinterpret_cast<float4*>(out);
  to[threadIdx.x] = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x + 1);  // BUG Misaligned
}

__global__ void StoreToReadOnly(float* out, float* in) {
  in[threadIdx.x] = 1;  // BUG StoreToReadOnly
  out[threadIdx.x] = 0;
}

__global__ void UninitialisedGlobal(float* out, const float* in) {
  out[threadIdx.x] += in[threadIdx.x];  // BUG UninitialisedGlobal
}

__global__ void UninitialisedShared(float* out, const float* in) {
  __shared__ float s[kElements];
  if (threadIdx.x < kElements - 1) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[kElements - 1 - threadIdx.x];  // BUG UninitialisedShared
}

// The first 32 elements are there already; still nothing says so.
__global__ void MissingBarrier(float* out, const float* in) {
  __shared__ float s[kElements];
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x >= 32) out[threadIdx.x] = s[threadIdx.x - 32];  // BUG MissingBarrier
}

__global__ void MissingSecondBarrier(float* out, const float* in) {
  __shared__ float s[kElements];
  float sum = 0;
  for (int i = 0; i < 3; ++i) {
    s[threadIdx.x] = in[threadIdx.x] + i;  // BUG MissingSecondBarrier
    __syncthreads();
    sum += s[kElements - 1 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

__global__ void MissingWarpSync(float* out, const float* in) {
  __shared__ float s[kElements];
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x % 32 > 0) out[threadIdx.x] = s[threadIdx.x - 1];  // BUG MissingWarpSync
}

// Each half of a warp waits for itself only.
__global__ void WarpSyncOfTheWrongLanes(float* out, const float* in) {
  __shared__ float s[kElements];
  s[threadIdx.x] = in[threadIdx.x];
  __syncwarp(threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffff0000u);
  const int from = threadIdx.x ^ 16;
  if (threadIdx.x % 32 >= 16) out[threadIdx.x] = s[from];  // BUG WarpSyncOfTheWrongLanes
}

__global__ void RaceOfBlocks(float* out, const float* in) {
  out[threadIdx.x] = in[blockIdx.x];  // BUG RaceOfBlocks
}

// Two threads write the same byte of a word, among others that write its other bytes.
__global__ void RaceForAByte(float* out, const float* in) {
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  bytes[threadIdx.x == 63 ? 62 : threadIdx.x] = 1;  // BUG RaceForAByte
}

__global__ void PlainBesideAtomic(float* out, const float* in) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x < 63) atomicAdd(&count, 1);
  if (threadIdx.x == 63) count = 5;  // BUG PlainBesideAtomic
}

__global__ void AsyncCopyNotWaitedFor(float* out, const float* in) {
  __shared__ float s[kElements];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __syncthreads();
  out[threadIdx.x] = s[kElements - 1 - threadIdx.x];  // BUG AsyncCopyNotWaitedFor
}

__global__ void EarlyExit(float* out, const float* in) {
  __shared__ float s[kElements];
  if (threadIdx.x >= 40) return;
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();  // BUG EarlyExit
  out[threadIdx.x] = s[39 - threadIdx.x];
}

__global__ void DivergentBarrier(float* out, const float* in) {
  __shared__ float s[kElements];
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 32) {
    __syncthreads();  // BUG DivergentBarrier
    out[threadIdx.x] = s[threadIdx.x + 32];
  } else {
    out[threadIdx.x] = s[threadIdx.x];
    __syncthreads();
  }
}

__global__ void ShuffleWithAbsentLanes(float* out, const float* in) {
  float value = in[threadIdx.x];
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __shfl_down_sync(~0u, value, 1);  // BUG ShuffleWithAbsentLanes
  }
}

__global__ void TooMuchShared(float* out, const float* in) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = in[threadIdx.x];  // BUG TooMuchShared
  out[threadIdx.x] = dynamic[threadIdx.x];
}

__global__ void WaitsForEver(float* out, const float* in) {
  const volatile float* flag = in;
  while (*flag != -1) continue;  // BUG WaitsForEver
  out[0] = 1;
}

template <typename... Params>
absl::Status Run(void (*kernel)(Params...), const BugArgs& args, int64_t blocks = 1,
                 int64_t threads = kElements, size_t shared = 0) {
  return Launch(kernel, Grid{blocks}, Block{threads}, shared, args.stream, args.out, args.in);
}

}  // namespace

#define BUG(Kernel, check, ...)                                                                 \
  {                                                                                             \
#Kernel, Check::check, [](const BugArgs& args) { return Run(Kernel, args, ##__VA_ARGS__); } \
  }

std::vector<PlantedBug> PlantedBugs() {
  return {
      BUG(OutOfBounds, kOutOfBounds, 2),
      BUG(BeforeTheStart, kOutOfBounds),
      BUG(SharedOutOfBounds, kOutOfBounds),
      {"WildPointer", Check::kWildAddress,
       [](const BugArgs& args) {
         float host[kElements] = {};
         return Run(WildPointer, {args.out, host, args.stream});
       }},
      {"NullPointer", Check::kWildAddress,
       [](const BugArgs& args) {
         return Run(NullPointer, {nullptr, args.in, args.stream});
       }},
      BUG(Misaligned, kMisaligned, 1, 8),
      BUG(StoreToReadOnly, kWriteToReadOnly),
      BUG(UninitialisedGlobal, kUninitialised),
      BUG(UninitialisedShared, kUninitialised),
      BUG(MissingBarrier, kRace),
      BUG(MissingSecondBarrier, kRace),
      BUG(MissingWarpSync, kRace),
      BUG(WarpSyncOfTheWrongLanes, kRace),
      BUG(RaceOfBlocks, kRace, 2),
      BUG(RaceForAByte, kRace),
      BUG(PlainBesideAtomic, kRace),
      BUG(AsyncCopyNotWaitedFor, kUninitialised),
      BUG(EarlyExit, kBarrierDivergence),
      BUG(DivergentBarrier, kBarrierDivergence),
      BUG(ShuffleWithAbsentLanes, kBarrierDivergence, 1, 32),
      BUG(TooMuchShared, kSharedMemoryLimit, 1, kElements, 300 << 10),
      BUG(WaitsForEver, kRunaway, 1, 1),
  };
}

#undef BUG

}  // namespace stridewise::executor
