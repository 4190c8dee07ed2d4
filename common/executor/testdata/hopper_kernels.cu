#include <cuda.h>
#include <cudaTypedefs.h>

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
#define INIT_UNFENCED(barrier, count) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddress(&barrier)), "r"(count))
#define INIT(barrier, count)                                                                \
  asm volatile(                                                                             \
      "mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster;" ::"r"( \
          SharedAddress(&barrier)),                                                         \
      "r"(count))
#define ARRIVE(barrier)                                                                  \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SharedAddress(&barrier)) \
               : "memor"                                                                 \
                 "y")
#define WAIT(barrier, parity)                                                               \
  asm volatile(                                                                             \
      "{.reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done" \
      " bra again;}" ::"r"(SharedAddress(&barrier)),                                        \
      "r"(parity)                                                                           \
      : "memory")

#define EXPECT(barrier, bytes)                                                                 \
  asm volatile(                                                                                \
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress(&barrier)), \
      "r"(bytes)                                                                               \
      : "memory")
#define BULK_LOAD(to, from, bytes, barrier)                                                \
  asm volatile(                                                                            \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, " \
      "[%3];" ::"r"(SharedAddress(to)),                                                    \
      "l"(from), "r"(bytes), "r"(SharedAddress(&barrier))                                  \
      : "memory")
#define BULK_STORE(to, from, bytes)                                                     \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), \
               "r"(SharedAddress(from)), "r"(bytes)                                     \
               : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")

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

// A box of kBytes a row of the 16 x 16 integers, of which some lie outside; swizzled where its rows
// are wider than a piece needs.
template <int kSwizzle>
struct Box {
  static constexpr int kCols = (kSwizzle == 0 ? 64 : kSwizzle) / 4;
  static constexpr int kBoxRows = 256 / kCols;
  static constexpr int kX = -4, kY = -3;
  static int Want(int i) {
    const int x = i % kCols + kX;
    const int y = i / kCols + kY;
    return x < 0 || x >= 16 || y < 0 || y >= 16 ? 0 : 3 * (y * 16 + x);
  }
};

CUtensorMap MapOf(const int* matrix, int box_cols, int box_rows, int swizzle,
                  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_INT32) {
  const cuuint64_t extents[] = {16, 16, 1};
  const cuuint64_t strides[] = {64, 1024};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows),
                            1};
  const cuuint32_t element_strides[] = {1, 1, 1};
  CUtensorMap map = {};
  cuTensorMapEncodeTiled(&map, type, 3, const_cast<int*>(matrix), extents, strides, box,
                         element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                         static_cast<CUtensorMapSwizzle>(swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

template <int kSwizzle>
__global__ void TmaBox(int* out, const CUtensorMap map) {
  __shared__ int s[256];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(full, 1);
    EXPECT(full, 1024);
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(SharedAddress(s)),
        "l"(&map), "r"(Box<kSwizzle>::kX), "r"(Box<kSwizzle>::kY), "r"(0), "r"(SharedAddress(&full))
        : "memory");
  }
  __syncthreads();
  WAIT(full, 0);
  const unsigned address = SharedAddress(s) + 4 * t;
  const unsigned exchanged =
      kSwizzle == 0 ? address : address ^ (((address >> 7) & (kSwizzle / 16 - 1)) << 4);
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(out[t]) : "r"(exchanged));
}

template <int kSwizzle>
absl::Status RunBox(const CorrectArgs& args) {
  using B = Box<kSwizzle>;
  const int number = kSwizzle == 0 ? 0 : kSwizzle == 32 ? 1 : kSwizzle == 64 ? 2 : 3;
  return Launch(TmaBox<kSwizzle>, Grid{1}, Block{256}, 0, args.stream, args.out,
                MapOf(args.in, B::kCols, B::kBoxRows, number));
}

// Floats of many exponents, of either sign, and what the TMA makes of their mantissas: 0x800000
// is one more in the exponent.
struct RoundedMantissa {
  unsigned from, to;
};
constexpr RoundedMantissa kRoundedMantissas[] = {
    {0x000000, 0x000000}, {0x000001, 0x000000}, {0x000fff, 0x000000}, {0x001000, 0x000000},
    {0x001001, 0x002000}, {0x001fff, 0x002000}, {0x002000, 0x002000}, {0x002fff, 0x002000},
    {0x003000, 0x004000}, {0x003001, 0x004000}, {0x3fefff, 0x3fe000}, {0x3ff000, 0x400000},
    {0x7fefff, 0x7fe000}, {0x7ff000, 0x800000}, {0x7ff001, 0x800000}, {0x7fffff, 0x800000}};
__device__ unsigned SignAndExponent(int i) {
  const unsigned exponents[] = {0, 1, 2, 63, 127, 128, 253, 254};
  return static_cast<unsigned>(i % 2) << 31 | exponents[i / 2 % 8] << 23;
}

__global__ void StoreFloats(int* out) {
  const int i = threadIdx.x;
  out[i] = static_cast<int>(SignAndExponent(i) + kRoundedMantissas[i / 16].from);
}

// The box begins in row -3 and column -4.
int WantRounded(int i) {
  using B = Box<0>;
  const int x = i % B::kCols + B::kX;
  const int y = i / B::kCols + B::kY;
  if (x < 0 || x >= 16 || y < 0 || y >= 16) return 0;
  return static_cast<int>(SignAndExponent(y * 16 + x) + kRoundedMantissas[y].to);
}

absl::Status RunRounded(const CorrectArgs& args) {
  const absl::Status stored = Launch(StoreFloats, Grid{1}, Block{256}, 0, args.stream, args.out);
  if (!stored.ok()) return stored;
  using B = Box<0>;
  return Launch(TmaBox<0>, Grid{1}, Block{256}, 0, args.stream, args.out,
                MapOf(args.out, B::kCols, B::kBoxRows, 0, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32));
}

// A plain copy in, a box out, and its buffer used again once it has been read.
__global__ void TmaRoundTrip(int* out, const int* in, const CUtensorMap map) {
  __shared__ int s[256];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(full, 1);
    EXPECT(full, 1024);
    BULK_LOAD(s, in, 1024, full);
  }
  __syncthreads();
  WAIT(full, 0);
  s[t] += 7;
  PROXY_FENCE();
  __syncthreads();
  if (t == 0) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], "
        "[%4];" ::"l"(&map),
        "r"(0), "r"(0), "r"(0), "r"(SharedAddress(s))
        : "memory");
    BULK_COMMIT();
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
  __syncthreads();
  s[t] = 0;
  if (t == 0) BULK_WAIT();
}

// One thread loads, all others read; the stage is loaded again when all have read it.
__global__ void BulkPipeline(int* out, const int* in) {
  __shared__ int stage[64];
  __shared__ uint64_t full, empty;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT_UNFENCED(full, 1);
    INIT_UNFENCED(empty, 256);
    PROXY_FENCE();
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (t == 0) {
      if (i > 0) WAIT(empty, (i - 1) % 2);
      EXPECT(full, 256);
      BULK_LOAD(stage, in + 64 * i, 256, full);
    }
    WAIT(full, i % 2);
    sum += stage[t % 64];
    ARRIVE(empty);
  }
  out[t] = sum;
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
      CORRECT(WgmmaSumsInTurn, WantPipeline),
      {"TmaBox", false, RunBox<0>, Box<0>::Want},
      {"TmaBoxOf32", false, RunBox<32>, Box<32>::Want},
      {"TmaBoxOf64", false, RunBox<64>, Box<64>::Want},
      {"TmaBoxOf128", false, RunBox<128>, Box<128>::Want},
      {"TmaRoundsToTf32", false, RunRounded, WantRounded},
      {"TmaRoundTrip", false,
       [](const CorrectArgs& args) -> absl::Status {
         return Launch(TmaRoundTrip, Grid{1}, Block{256}, 0, args.stream, args.out, args.in,
                       MapOf(args.out, 16, 16, 0));
       },
       [](int i) { return 3 * i + 7; }},
      CORRECT(BulkPipeline, [](int i) { return 3 * (4 * (i % 64) + 64 * 6); }),
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
      BUG(WgmmaSumsReadBeforeTheWait, kWgmma, kWarpgroup),
      BUG(WgmmaSumsReadTooEarly, kWgmma, kWarpgroup),
      BUG(WgmmaSumsPassedOnTooEarly, kWgmma, kWarpgroup),
      BUG(WgmmaSumsChangedWithoutFence, kWgmma, kWarpgroup),
      BUG(WgmmaOfThreeWarps, kBarrierDivergence, kWarpgroup),
      BUG(WgmmaWithTwoDescriptors, kWgmma, kWarpgroup),
      BUG(WgmmaBeyondItsTile, kOutOfBounds, kWarpgroup),
      BUG(WgmmaOfUninitialisedRows, kUninitialised, kWarpgroup),
      BUG(BulkStageReadBeforeItsPhase, kRace, kElements),
      BUG(BulkStageLoadedAgain, kRace, kElements),
      BUG(BulkLoadOfTooManyBytes, kDeadlock, kElements),
      BUG(BulkLoadOfTooFewBytes, kDeadlock, kElements),
      BUG(BulkLoadOutOfBounds, kOutOfBounds, kElements),
      BUG(BulkLoadToAnOddPlace, kBulkCopy, kElements),
      BUG(BulkLoadNotWaitedFor, kBulkCopy, kElements),
      BUG(BulkStoreWithoutProxyFence, kProxyFence, kElements),
      BUG(BulkLoadToAnUnfencedBarrier, kProxyFence, kElements),
      BUG(BulkStoreOverwritten, kRace, kElements),
      BUG(BulkStoreNotWaitedFor, kBulkCopy, kElements),
      BUG(BulkStoreOutOfBounds, kOutOfBounds, kElements),
  };
}

#undef BUG

}  // namespace stridewise::executor
