// Correct kernels with inline PTX: of one thread, atomic operations, barriers in shared memory.

#include "common/executor/testdata/correct_kernels.h"
#include "common/executor/testdata/correct_operations.h"

namespace stridewise::executor {
namespace {

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
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(SharedAddressOf(&s[threadIdx.x])),
      "l"(&in[threadIdx.x]), "r"(threadIdx.x % 2 * 4)
      : "memory");
  asm volatile("cp.async.wait_all;\nbar.sync 0;" ::: "memory");
  int x, y, z, w;
  asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "r"(SharedAddressOf(&s[threadIdx.x / 4 * 4])));
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
               : "r"(SharedAddressOf(&counter))
               : "memory");
  taken[old] = 1;
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(&out[threadIdx.x % 2]), "r"(3)
               : "memory");
  __syncthreads();
  if (threadIdx.x > 1) out[threadIdx.x] = taken[threadIdx.x] + static_cast<int>(counter);
}

#define MBARRIER_INIT(barrier, count)                                                      \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddressOf(&barrier)), \
               "r"(count))

__device__ void Arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SharedAddressOf(barrier))
               : "memory");
}
__device__ void WaitForParity(uint64_t* barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}\n" ::"r"(
          SharedAddressOf(barrier)),
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
                 : "r"(SharedAddressOf(&barrier))
                 : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(
        SharedAddressOf(&barrier)));
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" ::"r"(
        SharedAddressOf(&barrier)));
  }
  if (threadIdx.x % 32 == 0) {
    asm volatile(
        "mbarrier.arrive.release.cta.shared::cta.b64 %0, [%2], 1;\n"
        "mbarrier.pending_count.b64 %1, %0;"
        : "=l"(state), "=r"(count)
        : "r"(SharedAddressOf(&barrier))
        : "memory");
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
          : "=r"(done)
          : "r"(SharedAddressOf(&barrier)), "l"(state)
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

int WantOfOneThread(int i) {
  const int lane = i % 32;
  return lane * (lane + 1) / 2 + In(i / 4 * 4 + 1) + In(i / 4 * 4 + 3);
}
}  // namespace

std::vector<CorrectKernel> PtxKernels() {
  return {
      CORRECT(MbarrierPipeline, false, i < 32 ? 0 : 8 * In(31 - i % 32) + 32 * 3 * 28),
      CORRECT(MbarrierStates, false, In(255 - i)),
      CORRECT(NamedBarriers, false, In(i ^ 127) + (i < 128 ? 0 : In(i - 128))),
      CORRECT(ElectedLanes, false, In((7 - i / 32) * 32)),
      CORRECT(PtxOfOneThread, false, WantOfOneThread(i)),
      CORRECT(PtxAtomics, true, i < 2 ? 3 * kThreads / 2 : 1 + kThreads),
  };
}

}  // namespace stridewise::executor
