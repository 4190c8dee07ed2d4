// The calls from a kernel, compiled with the headers beside this one, into the host executor.
//
// Everything is extern "C" and plain data, so that the two sides, compiled with different flags,
// share no code. The other half of the interface is the compiler's instrumentation: see hooks.cc.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_ENTRY_POINTS_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_ENTRY_POINTS_H_

#include <stddef.h>
#include <stdint.h>

// Clang, which compiles the kernels, may neither move these across branches nor make two of one.
#if defined(__clang__)
#define SIMT_CONVERGENT __attribute__((convergent, noduplicate))
#else
#define SIMT_CONVERGENT
#endif

extern "C" {

struct SimtIndex {
  unsigned x, y, z;
};

// Constant for a thread, so the compiler may call once and keep the result.
__attribute__((const)) struct SimtIndex simt_thread_idx();
__attribute__((const)) struct SimtIndex simt_block_idx();
__attribute__((const)) struct SimtIndex simt_block_dim();
__attribute__((const)) struct SimtIndex simt_grid_dim();

// __syncthreads(), and the form that returns the number of threads whose predicate is not 0.
SIMT_CONVERGENT void simt_syncthreads();
SIMT_CONVERGENT int simt_syncthreads_count(int predicate);

// The barrier of all threads of a cooperative launch, and whether the launch is one.
SIMT_CONVERGENT void simt_grid_barrier();
__attribute__((const)) int simt_is_cooperative();

SIMT_CONVERGENT void simt_syncwarp(unsigned mask);

// Values of up to 8 bytes, widened. `mode`: 0 from lane `argument`, 1 up, 2 down, 3 xor.
SIMT_CONVERGENT uint64_t simt_shuffle(unsigned mask, uint64_t value, int mode, int argument,
                                      int width);
SIMT_CONVERGENT unsigned simt_ballot(unsigned mask, int predicate);
// The lanes of the warp that come to the call together.
SIMT_CONVERGENT unsigned simt_active_mask();

// cp.async: `bytes` is 4, 8 or 16, of which the last `zero_bytes` become 0 and are not read. The
// copy may land at any time until the wait; what the kernel may not rely on, it does not find.
void simt_cp_async(void* shared, const void* global, size_t bytes, size_t zero_bytes);
void simt_cp_async_commit();
void simt_cp_async_wait(unsigned groups_still_allowed_in_flight);

// An asm statement of PTX: the values of its operands come in and, where they are outputs, go out.
SIMT_CONVERGENT void simt_ptx(const char* text, uint64_t* operands, int count);
// The same with the addresses of its outputs, which come in and go out there; null where an operand
// is none.
SIMT_CONVERGENT void simt_wgmma(const char* text, uint64_t* operands, void* const* registers,
                                int count);

// The address of shared memory in the window that PTX instructions address.
unsigned simt_shared_address(const void* pointer);

// Conversions, which round to the nearest: single instructions on a GPU. FP8 saturates.
__attribute__((const)) unsigned short simt_half_of(float value);
__attribute__((const)) unsigned short simt_bfloat16_of(float value);
__attribute__((const)) unsigned char simt_e4m3_of(float value);
__attribute__((const)) unsigned char simt_e5m2_of(float value);
__attribute__((const)) float simt_float_of_half(unsigned short bits);
__attribute__((const)) float simt_float_of_e4m3(unsigned char bits);
__attribute__((const)) float simt_float_of_e5m2(unsigned char bits);

// __threadfence(): orders what the thread did before among other blocks (publication.h).
void simt_fence();

// Before an atomic operation, which the caller then carries out as plain code.
void simt_atomic(void* address, size_t bytes);

}  // extern "C"

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_ENTRY_POINTS_H_
