#include "common/executor/testdata/planted_bugs.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

constexpr int kElements = 64;

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

absl::Status Run(void (*kernel)(float*, const float*), const BugArgs& args,
                 int64_t threads = kElements) {
  return Launch(kernel, Grid{1}, Block{threads}, 0, args.stream, args.out, args.in);
}

}  // namespace

#define BUG(Kernel, check, ...)                                                                 \
  {                                                                                             \
#Kernel, Check::check, [](const BugArgs& args) { return Run(Kernel, args, ##__VA_ARGS__); } \
  }

std::vector<PlantedBug> PtxBugs() {
  return {
      BUG(MatrixWithoutBarrier, kRace),
      BUG(UninitialisedMatrix, kUninitialised, 32),
      BUG(MisalignedMatrix, kMisaligned, 32),
      BUG(MatrixOutOfBounds, kOutOfBounds, 32),
      BUG(StoredMatrixWithoutSync, kRace, 32),
      BUG(MultiplicationByHalfAWarp, kBarrierDivergence, 32),
      BUG(PtxCopyNotWaitedFor, kUninitialised),
      BUG(PtxStoreOutOfBounds, kOutOfBounds),
      BUG(MbarrierWithoutInit, kMbarrier, 1),
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
