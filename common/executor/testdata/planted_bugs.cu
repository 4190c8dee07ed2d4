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

// What the kernels below load matrices from: a row of eight 16-bit elements for each lane.
struct MatrixRows {
  uint4 rows[32];
};

// A macro, so that a finding names the line of the kernel.
#define LOAD_ROWS(row, to)                                                        \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"((to)[0]), "=r"((to)[1]), "=r"((to)[2]), "=r"((to)[3])       \
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))))

// Each warp loads what the other one stores.
__global__ void MatrixWithoutBarrier(float* out, const float* in) {
  __shared__ MatrixRows s[2];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  s[warp].rows[lane] = make_uint4(__float_as_uint(in[lane]), 0, 0, 0);
  unsigned to[4];
  LOAD_ROWS(&s[1 - warp].rows[lane], to);  // BUG MatrixWithoutBarrier
  out[threadIdx.x] = __uint_as_float(to[0] + to[1]);
}

__global__ void UninitialisedMatrix(float* out, const float* in) {
  __shared__ MatrixRows s;
  if (threadIdx.x < 24) s.rows[threadIdx.x] = make_uint4(1, 2, 3, 4);
  __syncthreads();
  unsigned to[4];
  LOAD_ROWS(&s.rows[threadIdx.x], to);  // BUG UninitialisedMatrix
  out[threadIdx.x] = __uint_as_float(to[0] + to[3]);
}

__global__ void MisalignedMatrix(float* out, const float* in) {
  __shared__ MatrixRows s[2];
  s[0].rows[threadIdx.x] = s[1].rows[threadIdx.x] = make_uint4(1, 2, 3, 4);
  __syncthreads();
  unsigned to[4];
  LOAD_ROWS(&s[0].rows[threadIdx.x].z, to);  // BUG MisalignedMatrix
  out[threadIdx.x] = __uint_as_float(to[0]);
}

__global__ void MatrixOutOfBounds(float* out, const float* in) {
  __shared__ MatrixRows s;
  s.rows[threadIdx.x] = make_uint4(1, 2, 3, 4);
  __syncthreads();
  unsigned to[4];
  LOAD_ROWS(&s.rows[threadIdx.x + 1], to);  // BUG MatrixOutOfBounds
  out[threadIdx.x] = __uint_as_float(to[0]);
}

// stmatrix orders nothing: another lane may read too early.
__global__ void StoredMatrixWithoutSync(float* out, const float* in) {
  __shared__ MatrixRows s;
  const auto row = static_cast<unsigned>(__cvta_generic_to_shared(&s.rows[threadIdx.x]));
  const unsigned of_lane = __float_as_uint(in[threadIdx.x]);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(row),
               "r"(of_lane)
               : "memory");
  out[threadIdx.x] = __uint_as_float(s.rows[31 - threadIdx.x].x);  // BUG StoredMatrixWithoutSync
}

__global__ void MultiplicationByHalfAWarp(float* out, const float* in) {
  float d[4] = {};
  const unsigned one = __float_as_uint(in[threadIdx.x]);
  if (threadIdx.x < 16) {
    asm volatile(  // BUG MultiplicationByHalfAWarp
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(one));
  }
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

__global__ void PtxCopyNotWaitedFor(float* out, const float* in) {
  __shared__ float s[kElements];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.commit_group;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x]))),
               "l"(&in[threadIdx.x])
               : "memory");
  __syncthreads();
  out[threadIdx.x] = s[kElements - 1 - threadIdx.x];  // BUG PtxCopyNotWaitedFor
}

__global__ void PtxStoreOutOfBounds(float* out, const float* in) {
  asm volatile("st.global.b32 [%0], %1;" ::"l"(&out[threadIdx.x + 1]),  // BUG PtxStoreOutOfBounds
               "f"(in[threadIdx.x])
               : "memory");
}

__global__ void PlainBesidePtxAtomic(float* out, const float* in) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(&count));
  if (threadIdx.x < 32) {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
  } else {
    out[threadIdx.x] = static_cast<float>(count);  // BUG PlainBesidePtxAtomic
  }
}

__global__ void UnknownInstruction(float* out, const float* in) {
  unsigned sum;
  asm volatile("vadd.u32.u32.u32 %0, %1, %1;"  // BUG UnknownInstruction
               : "=r"(sum)
               : "r"(__float_as_uint(in[threadIdx.x])));
  out[threadIdx.x] = __uint_as_float(sum);
}

#define SHARED(variable) static_cast<unsigned>(__cvta_generic_to_shared(&variable))

#define INIT(barrier, count) \
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(SHARED(barrier)), "r"(count))

#define ARRIVE(barrier) \
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(SHARED(barrier)) : "memory")
#define WAIT(barrier)                                                                       \
  asm volatile(                                                                             \
      "{.reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done " \
      "bra again;}" ::"r"(SHARED(barrier))                                                  \
      : "memory")

__global__ void MbarrierWithoutInit(float* out, const float* in) {
  __shared__ uint64_t barrier;
  ARRIVE(barrier);  // BUG MbarrierWithoutInit
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void MbarrierWithTooFewArrivals(float* out, const float* in) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) INIT(barrier, kElements + 1);
  __syncthreads();
  ARRIVE(barrier);
  WAIT(barrier);  // BUG MbarrierWithTooFewArrivals
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void MbarrierWithTooFewBytes(float* out, const float* in) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    INIT(barrier, 1);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 64;" ::"r"(SHARED(barrier)));
    asm volatile("mbarrier.complete_tx.shared.b64 [%0], 60;" ::"r"(SHARED(barrier)));
  }
  __syncthreads();
  WAIT(barrier);  // BUG MbarrierWithTooFewBytes
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void MbarrierWithTooManyArrivals(float* out, const float* in) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    INIT(barrier, 1);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 64;" ::"r"(SHARED(barrier)));
  }
  __syncthreads();
  ARRIVE(barrier);  // BUG MbarrierWithTooManyArrivals
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void MbarrierMadeAgain(float* out, const float* in) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) INIT(barrier, kElements);
  __syncthreads();
  ARRIVE(barrier);
  if (threadIdx.x == 0) INIT(barrier, 1);  // BUG MbarrierMadeAgain
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void StageReadBeforeItsPhase(float* out, const float* in) {
  __shared__ uint64_t barrier;
  __shared__ float s[kElements];
  if (threadIdx.x == 0) INIT(barrier, kElements);
  __syncthreads();
  s[threadIdx.x] = in[threadIdx.x];
  ARRIVE(barrier);
  out[threadIdx.x] = s[kElements - 1 - threadIdx.x];  // BUG StageReadBeforeItsPhase
  WAIT(barrier);
}

__global__ void NamedBarrierOfTheWrongHalf(float* out, const float* in) {
  __shared__ float s[kElements];
  s[threadIdx.x] = in[threadIdx.x];
  asm volatile("bar.sync %0, 32;" ::"r"(threadIdx.x / 32 + 1) : "memory");
  out[threadIdx.x] = s[kElements - 1 - threadIdx.x];  // BUG NamedBarrierOfTheWrongHalf
}

__global__ void NamedBarrierOfTooMany(float* out, const float* in) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG NamedBarrierOfTooMany
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void NamedBarrierWithTwoCounts(float* out, const float* in) {
  const int count = threadIdx.x % 2 == 0 ? 64 : 32;
  asm volatile("bar.sync 1, %0;" ::"r"(count) : "memory");  // BUG NamedBarrierWithTwoCounts
  out[threadIdx.x] = in[threadIdx.x];
}

#undef SHARED
#undef INIT
#undef ARRIVE
#undef WAIT
#undef LOAD_ROWS

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
      BUG(MatrixWithoutBarrier, kRace),
      BUG(UninitialisedMatrix, kUninitialised, 1, 32),
      BUG(MisalignedMatrix, kMisaligned, 1, 32),
      BUG(MatrixOutOfBounds, kOutOfBounds, 1, 32),
      BUG(StoredMatrixWithoutSync, kRace, 1, 32),
      BUG(MultiplicationByHalfAWarp, kBarrierDivergence, 1, 32),
      BUG(PtxCopyNotWaitedFor, kUninitialised),
      BUG(PtxStoreOutOfBounds, kOutOfBounds),
      BUG(MbarrierWithoutInit, kMbarrier, 1, 1),
      BUG(MbarrierWithTooFewArrivals, kDeadlock),
      BUG(MbarrierWithTooFewBytes, kDeadlock),
      BUG(MbarrierWithTooManyArrivals, kMbarrier),
      BUG(MbarrierMadeAgain, kMbarrier),
      BUG(StageReadBeforeItsPhase, kRace),
      BUG(NamedBarrierOfTheWrongHalf, kRace),
      BUG(NamedBarrierOfTooMany, kDeadlock),
      BUG(NamedBarrierWithTwoCounts, kMbarrier),
      BUG(PlainBesidePtxAtomic, kRace),
      BUG(UnknownInstruction, kUnsupported),
  };
}

#undef BUG

}  // namespace stridewise::executor
