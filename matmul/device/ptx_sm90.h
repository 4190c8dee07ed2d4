// The instructions of compute capability 9.0 that CUDA C++ has no names for: copies of whole boxes
// of a matrix to shared memory by the tensor memory accelerator (TMA), the barriers in shared
// memory that tell when a copy has arrived, and the reallocation of registers among warpgroups. PTX
// ISA: "cp.async.bulk.tensor", "mbarrier", "setmaxnreg".

#ifndef STRIDEWISE_MATMUL_DEVICE_PTX_SM90_H_
#define STRIDEWISE_MATMUL_DEVICE_PTX_SM90_H_

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace stridewise {

// Returns an address in shared memory in 32 bits. Its arithmetic takes half the registers and a
// third of the instructions of a pointer's.
__device__ inline uint32_t SharedAddress(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

// Loads four neighbours from a multiple of 16 bytes.
__device__ inline void LoadSharedVector(uint32_t from, float* to) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from));
}

// A barrier in shared memory. It goes through phases: a phase ends when the number of arrivals that
// Init() set has been reached and all expected bytes have been copied. A phase is named by its
// parity; the first one's is 0.
class Mbarrier {
 public:
  // Initialises the barrier. One thread calls it, then InitDone(), and then all call
  // __syncthreads() before any other thread uses the barrier.
  __device__ void Init(uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddress(this)),
                 "r"(arrivals));
  }
  __device__ static void InitDone() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }

  __device__ void Arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SharedAddress(this)) : "memory");
  }
  // Arrives, and makes the phase wait for this number of bytes from copies.
  __device__ void ArriveExpecting(uint32_t bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress(this)),
        "r"(bytes)
        : "memory");
  }

  // Waits until the phase of this parity has ended. The phase before the first counts as ended.
  __device__ void Wait(uint32_t parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(SharedAddress(this)),
        "r"(parity)
        : "memory");
  }

 private:
  uint64_t state_;
};

// The stage of a pipeline that a thread is at, and the parity of its barriers' phase.
template <int kStages>
struct PipelineState {
  int stage = 0;
  uint32_t phase = 0;

  __device__ void Advance() {
    if (++stage < kStages) return;
    stage = 0;
    phase ^= 1;
  }

  // Advances by this number of stages.
  __device__ void Skip(int stages) {
    const int next = stage + stages;
    stage = next % kStages;
    phase ^= next / kStages & 1;
  }
};

// Starts the copy of the box of `map` at (x, y) of matrix z, x along rows as they lie in memory.
// Elements outside the matrix arrive as 0. All bytes of the box count for the current phase of
// `barrier`.
__device__ inline void CopyBox(const CUtensorMap& map, int x, int y, int z, uint32_t to,
                               Mbarrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(SharedAddress(&barrier))
      : "memory");
}

// Change the number of registers of each thread of this warpgroup, a multiple of 8. All warps of
// the group call them. Registers come from those that the block was launched with: an increase
// waits until other warpgroups have released enough. They do nothing in code for the family
// compute_90, which lacks the instruction that sm_90a has.
template <int kRegisters>
__device__ inline void ReleaseRegistersDownTo() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}
template <int kRegisters>
__device__ inline void AcquireRegistersUpTo() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_PTX_SM90_H_
