#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "common/executor/testdata/correct_kernels.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

constexpr int kThreads = 256;

// Every value of a warp, summed by shuffles.
__global__ void WarpSum(int* out, const int* in) {
  int value = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
  out[threadIdx.x] = value;
}

__global__ void ShuffleUpAndDown(int* out, const int* in) {
  const int value = in[threadIdx.x];
  const int up = __shfl_up_sync(~0u, value, 1, 8);
  const int down = __shfl_down_sync(~0u, value, 1, 8);
  out[threadIdx.x] = up + 1000 * down + 1000000 * __shfl_sync(~0u, value, 3, 8);
}

__global__ void Votes(int* out, const int* in) {
  const int lane = threadIdx.x % 32;
  const unsigned ballot = __ballot_sync(~0u, lane % 3 == 0);
  out[threadIdx.x] = __popc(ballot) + (__any_sync(~0u, lane == 31) ? 100 : 0) +
                     (__all_sync(~0u, lane < 31) ? 1000 : 0);
}

// Half warps that synchronise apart, then together, and shuffle each at its own pace.
__global__ void HalfWarps(int* out, const int* in) {
  __shared__ int s[kThreads];
  const int t = threadIdx.x;
  const unsigned mask = t % 32 < 16 ? 0x0000ffffu : 0xffff0000u;
  s[t] = in[t];
  __syncwarp(mask);
  int value = s[t ^ 15];
  if (t % 32 < 16) value = __shfl_xor_sync(mask, value, 15);
  __syncwarp(mask);
  s[t] = value;
  __syncwarp();
  out[t] = s[t ^ 16];
}

__global__ void TiledPartition(int* out, const int* in) {
  namespace cg = cooperative_groups;
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<4>(block);
  int value = in[block.thread_rank()];
  for (int d = 2; d > 0; d /= 2) value += tile.shfl_xor(value, d);
  block.sync();
  out[block.thread_rank()] = value + static_cast<int>(tile.thread_rank());
}

// Neighbouring bytes and halves of one word by different threads are no race.
__global__ void NarrowElements(int* out, const int* in) {
  __shared__ unsigned char bytes[kThreads];
  __shared__ unsigned short halves[kThreads];
  bytes[threadIdx.x] = static_cast<unsigned char>(in[threadIdx.x]);
  halves[threadIdx.x] = static_cast<unsigned short>(in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = bytes[threadIdx.x ^ 1] + 1000 * halves[threadIdx.x ^ 2];
}

__global__ void WideElements(int* out, const int* in) {
  __shared__ int4 s[kThreads / 4];
  if (threadIdx.x < kThreads / 4) s[threadIdx.x] = reinterpret_cast<const int4*>(in)[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x / 4].y;
}

__global__ void DynamicShared(int* out, const int* in) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic[kThreads - 1 - threadIdx.x];
}

// Two stages of cp.async in flight.
__global__ void AsyncPipeline(int* out, const int* in) {
  __shared__ int s[2][64];
  const int t = threadIdx.x;
  const auto load = [&](int i) {
    __pipeline_memcpy_async(&s[i % 2][t], &in[64 * i + t], 4);
    __pipeline_commit();
  };
  load(0);
  for (int i = 0; i < 4; ++i) {
    if (i < 3) load(i + 1);
    __pipeline_wait_prior(i < 3 ? 1 : 0);
    __syncthreads();
    out[64 * i + t] = s[i % 2][63 - t];
    __syncthreads();
  }
}

__global__ void AsyncCopyWithZeros(int* out, const int* in) {
  __shared__ int4 s[kThreads];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x / 4 * 4], 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x].x + s[threadIdx.x].y + s[threadIdx.x].z + s[threadIdx.x].w;
}

__global__ void CountingBarrier(int* out, const int* in) {
  out[threadIdx.x] =
      __syncthreads_count(threadIdx.x % 5 == 0) + (__syncthreads_or(threadIdx.x == 7) ? 1000 : 0);
}

// Blocks that talk to each other by atomics.
__global__ void GlobalAtomics(int* out, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[i % kThreads], 1);
}

__global__ void SharedAtomics(int* out, const int* in) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = sum;
}

struct Three {
  int x, y, z;
};
__global__ void StructCopies(int* out, const int* in) {
  if (threadIdx.x < 85) {
    const Three three = reinterpret_cast<const Three*>(in)[threadIdx.x];
    reinterpret_cast<Three*>(out)[threadIdx.x] = three;
  }
  if (threadIdx.x == 255) out[255] = in[255];
}

// Read and then written by the same block, with a barrier between; many readers of one word.
__global__ void InPlace(int* out, const int* in) {
  const int value = out[0] + in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = value;
}

__device__ unsigned SharedAddress(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// Four 8x8 matrices with elements 3 * (64 * matrix + 8 * row + col). Warp w keeps matrix w % 4, and
// warps from 4 on transposed.
__global__ void MatrixLoads(int* out, const int* in) {
  __shared__ __align__(16) unsigned short s[32][8];
  s[threadIdx.x / 8][threadIdx.x % 8] = static_cast<unsigned short>(in[threadIdx.x]);
  __syncthreads();
  const unsigned row = SharedAddress(&s[threadIdx.x % 32]);
  unsigned plain[4], transposed[4], two[2], one;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(plain[0]), "=r"(plain[1]), "=r"(plain[2]), "=r"(plain[3])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(transposed[0]), "=r"(transposed[1]), "=r"(transposed[2]), "=r"(transposed[3])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(two[0]), "=r"(two[1])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1 + 128];" : "=r"(one) : "r"(row));
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool same = two[0] == plain[0] && two[1] == plain[1] && one == plain[1];
  out[threadIdx.x] = static_cast<int>(!same ? ~0u : warp < 4 ? plain[warp] : transposed[warp - 4]);
}

// Stores the lanes' registers as matrices, even warps plainly and odd ones transposed, after
// movmatrix has transposed them once.
__global__ void MatrixStores(int* out, const int* in) {
  __shared__ __align__(16) unsigned short s[8][4][8][8];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const unsigned value = static_cast<unsigned>(in[lane]) | static_cast<unsigned>(in[lane] + 1)
                                                               << 16;
  unsigned turned;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(value));
  const unsigned row = SharedAddress(&s[warp][lane / 8][lane % 8]);
  if (warp % 2 == 0) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %1, %2};" ::"r"(row),
                 "r"(value), "r"(turned)
                 : "memory");
  } else {
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %1, %2};" ::"r"(row),
        "r"(turned), "r"(value)
        : "memory");
  }
  __syncwarp();
  const unsigned short* const all = &s[warp][0][0][0];
  out[threadIdx.x] = all[2 * lane] + 1000 * all[64 + 2 * lane] + 1000000 * (all[129] == all[1]);
}

// Element (lane / 4, lane % 4 * 2 + i) of what MatrixStores stores is 3 * lane + i.
int WantStored(int i) {
  const int row = i % 32 / 4;
  const int col = i % 4 * 2;
  return 3 * (i % 32) + 1000 * (3 * (col * 4 + row / 2) + row % 2) + 1000000;
}

int IntegerA(int row, int k) { return (row + 3 * k) % 11 - 5; }
int IntegerB(int k, int col) { return (5 * k + col) % 13 - 6; }

// The fragments as PTX documents them, byte by byte.
__global__ void MultipliedIntegers(int* out, const int* in) {
  const int g = threadIdx.x % 32 / 4;
  const int t = threadIdx.x % 4;
  unsigned a[4] = {}, b[2] = {};
  for (int i = 0; i < 16; ++i) {
    const int row = i < 4 || (i >= 8 && i < 12) ? g : g + 8;
    const int k = t * 4 + i % 4 + (i >= 8 ? 16 : 0);
    a[i / 4] |= (static_cast<unsigned>(IntegerA(row, k)) & 0xff) << i % 4 * 8;
  }
  for (int i = 0; i < 8; ++i) {
    const int k = t * 4 + i % 4 + (i >= 4 ? 16 : 0);
    b[i / 4] |= (static_cast<unsigned>(IntegerB(k, g)) & 0xff) << i % 4 * 8;
  }
  int d[4] = {1000, 2000, 3000, 4000};
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; ++i) {
    const int row = i < 2 ? g : g + 8;
    const int col = t * 2 + i % 2;
    out[threadIdx.x / 32 * 128 + row * 8 + col] = d[i];
  }
}

int WantIntegers(int i) {
  const int row = i % 128 / 8;
  const int col = i % 8;
  int sum = row < 8 ? 1000 + col % 2 * 1000 : 3000 + col % 2 * 1000;
  for (int k = 0; k < 32; ++k) sum += IntegerA(row, k) * IntegerB(k, col);
  return sum;
}

int HalfA(int row, int k) { return (3 * row + k) % 5; }
int HalfB(int k, int col) { return (k + 2 * col) % 7; }

template <typename LayoutA, typename LayoutB>
__device__ void MultiplyByWmma(const half* a, const half* b, nvcuda::wmma::layout_t layout,
                               float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, LayoutA> of_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, LayoutB> of_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 1.0f);
  wmma::load_matrix_sync(of_a, a, 16);
  wmma::load_matrix_sync(of_b, b, 24);
  wmma::mma_sync(sums, of_a, of_b, sums);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] *= 2;
  wmma::store_matrix_sync(c, sums, 20, layout);
}

// Each warp has another combination of layouts, and writes two rows of the result.
__global__ void WmmaLayouts(int* out, const int* in) {
  using namespace nvcuda;
  __shared__ __align__(32) half a[2][16][16], b[2][16][24];
  __shared__ __align__(32) float c[8][16][20];
  const int i = threadIdx.x / 16;
  const int j = threadIdx.x % 16;
  a[0][i][j] = static_cast<half>(HalfA(i, j));
  a[1][j][i] = static_cast<half>(HalfA(i, j));
  b[0][i][j] = static_cast<half>(HalfB(i, j));
  b[1][j][i] = static_cast<half>(HalfB(i, j));
  __syncthreads();
  const int warp = threadIdx.x / 32;
  float* const to = &c[warp][0][0];
  const auto layout = warp < 4 ? wmma::mem_row_major : wmma::mem_col_major;
  switch (warp % 4) {
    case 0:
      MultiplyByWmma<wmma::row_major, wmma::row_major>(a[0][0], b[0][0], layout, to);
      break;
    case 1:
      MultiplyByWmma<wmma::col_major, wmma::row_major>(a[1][0], b[0][0], layout, to);
      break;
    case 2:
      MultiplyByWmma<wmma::row_major, wmma::col_major>(a[0][0], b[1][0], layout, to);
      break;
    default:
      MultiplyByWmma<wmma::col_major, wmma::col_major>(a[1][0], b[1][0], layout, to);
  }
  __syncwarp();
  out[threadIdx.x] = static_cast<int>(warp < 4 ? c[warp][i][j] : c[warp][j][i]);
}

int WantWmma(int i) {
  int sum = 1;
  for (int k = 0; k < 16; ++k) sum += HalfA(i / 16, k) * HalfB(k, i % 16);
  return 2 * sum;
}

// 0 + 1 + ... + lane, by a loop in PTX; then a copy by cp.async, and a vector load.
__global__ void PtxOfOneThread(int* out, const int* in) {
  __shared__ __align__(16) int s[kThreads];
  int sum = 0;
  asm volatile(
      "{\n"
      ".reg .pred more;\n"
      ".reg .u32 i;\n"
      "mov.u32 i, %%laneid;\n"
      "again:\n"
      "add.s32 %0, %0, i;\n"
      "setp.ne.u32 more, i, 0;\n"
      "@more sub.u32 i, i, 1;\n"
      "@more bra again;\n"
      "}\n"
      : "+r"(sum));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(SharedAddress(&s[threadIdx.x])),
               "l"(&in[threadIdx.x]), "r"(threadIdx.x % 2 * 4)
               : "memory");
  asm volatile("cp.async.wait_all;\nbar.sync 0;" ::: "memory");
  int x, y, z, w;
  asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "r"(SharedAddress(&s[threadIdx.x / 4 * 4])));
  asm volatile("st.global.u32 [%0], %1;" ::"l"(&out[threadIdx.x]), "r"(sum + x + y + z + w)
               : "memory");
}

// Each thread adds to a counter in shared memory, whose old values are all different, and to one in
// global memory.
__global__ void PtxAtomics(int* out, const int* in) {
  __shared__ unsigned counter;
  __shared__ int taken[kThreads];
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  unsigned old;
  asm volatile("atom.shared.add.u32 %0, [%1], 1;"
               : "=r"(old)
               : "r"(SharedAddress(&counter))
               : "memory");
  taken[old] = 1;
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(&out[threadIdx.x % 2]), "r"(3)
               : "memory");
  __syncthreads();
  if (threadIdx.x > 1) out[threadIdx.x] = taken[threadIdx.x] + static_cast<int>(counter);
}

// More dynamic shared memory than static variables may have, and a static one.
__global__ void StaticBesideDynamic(int* out, const int* in) {
  extern __shared__ int many[];
  many[kThreads * 64 + threadIdx.x] = in[threadIdx.x];
  __shared__ int few[kThreads];
  few[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = many[kThreads * 64 + (threadIdx.x ^ 1)] + few[threadIdx.x ^ 2];
}

#define MBARRIER_INIT(barrier, count) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddress(&barrier)), "r"(count))

__device__ void Arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SharedAddress(barrier)) : "memory");
}
__device__ void WaitForParity(uint64_t* barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}\n" ::"r"(
          SharedAddress(barrier)),
      "r"(parity)
      : "memory");
}

// Warp 0 produces and the others consume, through two stages.
__global__ void MbarrierPipeline(int* out, const int* in) {
  constexpr int kStages = 2;
  constexpr int kConsumers = kThreads - 32;
  __shared__ uint64_t full[kStages], empty[kStages];
  __shared__ int stages[kStages][32];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      MBARRIER_INIT(full[i], 32);
      MBARRIER_INIT(empty[i], kConsumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 8; ++i) {
    const int stage = i % kStages;
    const unsigned round = i / kStages;
    if (threadIdx.x < 32) {
      WaitForParity(&empty[stage], (round & 1) ^ 1);
      stages[stage][threadIdx.x] = in[i * 32 + threadIdx.x];
      Arrive(&full[stage]);
    } else {
      WaitForParity(&full[stage], round & 1);
      sum += stages[stage][31 - threadIdx.x % 32];
      Arrive(&empty[stage]);
    }
  }
  out[threadIdx.x] = sum;
}

// A state, bytes that are expected, and one lane that waits for its warp.
__global__ void MbarrierStates(int* out, const int* in) {
  __shared__ __align__(8) uint64_t barrier;
  __shared__ int s[kThreads];
  if (threadIdx.x == 0) MBARRIER_INIT(barrier, kThreads / 32 + 1);
  __syncthreads();
  s[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  uint64_t state = 0;
  unsigned count = 0;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 48;"
                 : "=l"(state)
                 : "r"(SharedAddress(&barrier))
                 : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(
        SharedAddress(&barrier)));
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" ::"r"(
        SharedAddress(&barrier)));
  }
  if (threadIdx.x % 32 == 0) {
    asm volatile(
        "mbarrier.arrive.release.cta.shared::cta.b64 %0, [%2], 1;\n"
        "mbarrier.pending_count.b64 %1, %0;"
        : "=l"(state), "=r"(count)
        : "r"(SharedAddress(&barrier))
        : "memory");
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
          : "=r"(done)
          : "r"(SharedAddress(&barrier)), "l"(state)
          : "memory");
    }
  }
  __syncwarp();
  out[threadIdx.x] = s[kThreads - 1 - threadIdx.x] + (count > kThreads / 32 + 1 ? 1000 : 0);
}

// The halves of the block meet at barriers of their own; the first one also arrives at a third.
__global__ void NamedBarriers(int* out, const int* in) {
  __shared__ int s[kThreads];
  s[threadIdx.x] = in[threadIdx.x];
  const int half = threadIdx.x / 128;
  asm volatile("bar.sync %0, 128;" ::"r"(half + 1) : "memory");
  int sum = s[threadIdx.x ^ 127];
  if (half == 0) {
    asm volatile("bar.arrive 3, 256;" ::: "memory");
  } else {
    asm volatile("barrier.sync 3, 256;" ::: "memory");
    sum += s[threadIdx.x - 128];
  }
  out[threadIdx.x] = sum;
}

__global__ void ElectedLanes(int* out, const int* in) {
  __shared__ int s[kThreads / 32];
  unsigned leader, elected;
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  asm volatile("{.reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p;}"
               : "=r"(leader), "=r"(elected));
  if (elected) s[threadIdx.x / 32] = in[threadIdx.x];
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  out[threadIdx.x] = s[7 - threadIdx.x / 32] + static_cast<int>(leader);
}

template <typename... Params>
absl::Status Run(void (*kernel)(Params...), const CorrectArgs& args, int64_t blocks = 1,
                 int64_t threads = kThreads, size_t shared = 0) {
  return Launch(kernel, Grid{blocks}, Block{threads}, shared, args.stream, args.out, args.in);
}

int In(int i) { return 3 * i; }
int WantLoaded(int i) {
  const int matrix = i / 32 % 4;
  const int g = i % 32 / 4;
  const int t = i % 4;
  const int first = matrix * 64 + (i < 128 ? g * 8 + 2 * t : 2 * t * 8 + g);
  return In(first) | In(first + (i < 128 ? 1 : 8)) << 16;
}
int WantOfOneThread(int i) {
  const int lane = i % 32;
  return lane * (lane + 1) / 2 + In(i / 4 * 4 + 1) + In(i / 4 * 4 + 3);
}
int WantUpAndDown(int i) {
  const int up = i % 8 == 0 ? i : i - 1;
  const int down = i % 8 == 7 ? i : i + 1;
  return static_cast<int>(static_cast<unsigned>(In(up)) + 1000u * In(down) +
                          1000000u * In(i / 8 * 8 + 3));
}

}  // namespace

#define CORRECT(Kernel, initialised, want, ...)                                                   \
  {                                                                                               \
#Kernel, initialised,                                                                         \
        [](const CorrectArgs&                                                                     \
               args) { return Run(Kernel, args, ##__VA_ARGS__); },                                \
                                                                [](int i) -> int { return want; } \
  }

std::vector<CorrectKernel> CorrectKernels() {
  return {
      CORRECT(WarpSum, false, 32 * In(i / 32 * 32) + 3 * 496),
      CORRECT(ShuffleUpAndDown, false, WantUpAndDown(i)),
      CORRECT(Votes, false, 11 + 100),
      CORRECT(HalfWarps, false, (i ^ 16) % 32 < 16 ? In(i ^ 16) : In(i ^ 16 ^ 15)),
      CORRECT(TiledPartition, false, 4 * In(i / 4 * 4) + 18 + i % 4),
      CORRECT(NarrowElements, false, In(i ^ 1) % 256 + 1000 * In(i ^ 2)),
      CORRECT(WideElements, false, In(i / 4 * 4 + 1)),
      CORRECT(DynamicShared, false, In(255 - i), 1, kThreads, kThreads * sizeof(int)),
      CORRECT(AsyncPipeline, false, In(i / 64 * 64 + 63 - i % 64), 1, 64),
      CORRECT(AsyncCopyWithZeros, false, 2 * In(i / 4 * 4) + 3),
      CORRECT(CountingBarrier, false, 52 + 1000),
      CORRECT(GlobalAtomics, true, 100, 100),
      CORRECT(SharedAtomics, false, 3 * 255 * 128),
      CORRECT(StructCopies, false, In(i)),
      CORRECT(InPlace, true, In(i)),
      CORRECT(MatrixLoads, false, WantLoaded(i)),
      CORRECT(MatrixStores, false, WantStored(i)),
      CORRECT(MultipliedIntegers, false, WantIntegers(i), 1, 64),
      CORRECT(WmmaLayouts, false, WantWmma(i)),
      CORRECT(MbarrierPipeline, false, i < 32 ? 0 : 8 * In(31 - i % 32) + 32 * 3 * 28),
      CORRECT(MbarrierStates, false, In(255 - i)),
      CORRECT(NamedBarriers, false, In(i ^ 127) + (i < 128 ? 0 : In(i - 128))),
      CORRECT(ElectedLanes, false, In((7 - i / 32) * 32)),
      CORRECT(PtxOfOneThread, false, WantOfOneThread(i)),
      CORRECT(StaticBesideDynamic, false, In(i ^ 1) + In(i ^ 2), 1, kThreads,
              65 * kThreads * sizeof(int)),
      CORRECT(PtxAtomics, true, i < 2 ? 3 * kThreads / 2 : 1 + kThreads),
  };
}

#undef CORRECT

}  // namespace stridewise::executor
