// Hopper's copies of whole boxes of a matrix to shared memory (TMA), the barriers in shared memory
// that say when one has arrived, and registers that move from warps to others. PTX ISA:
// "cp.async.bulk.tensor", "mbarrier", "setmaxnreg".

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_COPY_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_COPY_H_

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace stridewise {

// An address in shared memory, in 32 bits: half the registers and a third of the instructions of a
// pointer's arithmetic.
__device__ inline uint32_t SharedAddress(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

// Four neighbours from a multiple of 16 bytes.
__device__ inline void LoadSharedVector(uint32_t from, float* to) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from));
}

// A barrier in shared memory. It has phases: one ends when as many have arrived as Init() said and
// all bytes that were announced have come. Phases are told by their parity, the first one's is 0.
class Mbarrier {
 public:
  // By one thread; it calls InitDone(), and then __syncthreads(), before another one looks.
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
  // Arrives, and announces bytes that copies will bring.
  __device__ void ArriveExpecting(uint32_t bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress(this)),
        "r"(bytes)
        : "memory");
  }

  // Returns once the phase of this parity has ended; that is so of the one before the first.
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

// Starts the copy of the box of `map` at (x, y), x along rows as they lie in memory. What lies
// outside of the matrix arrives as 0. Its bytes count for `arrived`.
__device__ inline void CopyBox(const CUtensorMap& map, int x, int y, float* to, Mbarrier& arrived) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(SharedAddress(to)),
      "l"(&map), "r"(x), "r"(y), "r"(SharedAddress(&arrived))
      : "memory");
}

// Changes how many registers each thread of this warpgroup has, a multiple of 8; all its warps call
// it. Of what the block was launched with: who wants more waits until others have given. Nothing
// where the code is for a family of GPUs (compute_90) and not for the one that can (sm_90a).
template <int kRegisters>
__device__ inline void GiveRegistersDownTo() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}
template <int kRegisters>
__device__ inline void TakeRegistersUpTo() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_COPY_H_
