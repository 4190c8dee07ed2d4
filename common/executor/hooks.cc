// The functions that an instrumented kernel calls: those of the compiler (SanitizerCoverage's
// trace-pc, trace-loads and trace-stores; ThreadSanitizer's memory intrinsics, which
// rename_symbols.sh renames to the names below; emulated thread-local storage, which the shim uses
// for __shared__) and those of the shim (simt_entry_points.h). program_hooks.cc has those of
// programs of simt_run alone.
//
// Outside of a running kernel, in launchers and other host code of the same file, they do nothing.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/executor/shim/simt_entry_points.h"
#include "common/executor/worker.h"

using stridewise::executor::AccessOp;
using stridewise::executor::Lane;
using stridewise::executor::running_lane;

// Whole programs define it (run/runtime.cc): it reports the place and ends the program.
extern "C" [[gnu::weak]] void simt_not_in_kernel(uintptr_t pc);

namespace {

void OnAccess(const void* address, int log2_bytes, AccessOp op, void* pc) {
  Lane* lane = running_lane;
  if (lane == nullptr) return;
  lane->worker->Access(*lane, reinterpret_cast<uintptr_t>(address), log2_bytes, op,
                       reinterpret_cast<uintptr_t>(pc));
}

template <int kLog2Bytes, AccessOp kOp>
inline void OnAccessOf(const void* address, void* pc) {
  Lane* lane = running_lane;
  if (lane == nullptr) return;
  // Half of all accesses, and more where a kernel keeps its sums in an array: without a call.
  if (lane->IsLocal(reinterpret_cast<uintptr_t>(address))) {
    if (!lane->accumulators.empty()) {
      lane->worker->LocalAccess(*lane, reinterpret_cast<uintptr_t>(address), kOp,
                                reinterpret_cast<uintptr_t>(pc));
    }
    return;
  }
  lane->worker->AccessOf<kLog2Bytes, kOp>(*lane, reinterpret_cast<uintptr_t>(address),
                                          reinterpret_cast<uintptr_t>(pc));
}

void OnVolatile(const void* address, int log2_bytes, AccessOp op, void* pc) {
  Lane* lane = running_lane;
  if (lane == nullptr) return;
  lane->worker->VolatileAccess(*lane, reinterpret_cast<uintptr_t>(address), log2_bytes, op,
                               reinterpret_cast<uintptr_t>(pc));
}

// Reports an aggregate copy as the widest accesses that its address and length allow.
void OnRange(const void* address, size_t bytes, AccessOp op, void* pc) {
  auto at = reinterpret_cast<uintptr_t>(address);
  const uintptr_t end = at + bytes;
  while (at < end) {
    int log2_bytes = 4;
    while (((at & ((1u << log2_bytes) - 1)) != 0) || at + (1u << log2_bytes) > end) --log2_bytes;
    OnAccess(reinterpret_cast<const void*>(at), log2_bytes, op, pc);
    at += 1u << log2_bytes;
  }
}

// Returns the number with these bits.
template <typename T, typename Bits>
T Typed(Bits bits) {
  T value;
  value.bits = bits;
  return value;
}

// The record that GCC's and Clang's emulated TLS keep for each variable.
struct EmulatedTlsControl {
  size_t size, alignment;
  uintptr_t word;
  void* initial_value;
};

// A thread_local variable of host code. Such a variable lives as long as its thread.
void* HostThreadLocal(const EmulatedTlsControl& control) {
  if (control.size == 0) return nullptr;  // Dynamic shared memory, which host code cannot name.
  thread_local std::unordered_map<const EmulatedTlsControl*, std::unique_ptr<std::max_align_t[]>>
      variables;
  auto& memory = variables[&control];
  if (memory == nullptr) {
    memory.reset(new std::max_align_t[control.size / sizeof(std::max_align_t) + 1]());
    if (control.initial_value != nullptr) {
      std::memcpy(memory.get(), control.initial_value, control.size);
    }
  }
  return memory.get();
}

// A kernel that is called as a function, where CUDA would refuse the launch.
[[noreturn, gnu::noinline]] void NotInKernel(void* pc) {
  if (simt_not_in_kernel != nullptr) simt_not_in_kernel(reinterpret_cast<uintptr_t>(pc));
  std::abort();  // A mistake of the test that calls it.
}

}  // namespace

#define PC __builtin_return_address(0)

extern "C" {

// simt_library renames the control words of all `extern __shared__` arrays to this one: they are
// the same memory under any name.
EmulatedTlsControl simt_dynamic_shared __asm__("__emutls_v.simt_dynamic_shared")
    __attribute__((used)) = {0, 16, 0, nullptr};

void* __emutls_get_address(EmulatedTlsControl* control) {
  Lane* lane = running_lane;
  if (lane == nullptr) return HostThreadLocal(*control);
  return lane->worker->SharedVariable(*lane, control, control->size,
                                      reinterpret_cast<uintptr_t>(PC));
}

void __sanitizer_cov_trace_pc() {
  Lane* lane = running_lane;
  if (lane != nullptr) lane->worker->BasicBlock(*lane, reinterpret_cast<uintptr_t>(PC));
}

#define ON_ACCESS(bytes, log2_bytes)                       \
  void __sanitizer_cov_load##bytes(const void* address) {  \
    OnAccessOf<log2_bytes, AccessOp::kLoad>(address, PC);  \
  }                                                        \
  void __sanitizer_cov_store##bytes(const void* address) { \
    OnAccessOf<log2_bytes, AccessOp::kStore>(address, PC); \
  }
ON_ACCESS(1, 0)
ON_ACCESS(2, 1)
ON_ACCESS(4, 2)
ON_ACCESS(8, 3)
ON_ACCESS(16, 4)
#undef ON_ACCESS

// Of volatile variables, in whole programs (run/compiler.cc).
#define ON_VOLATILE(bytes, log2_bytes)                     \
  void simt_volatile_load##bytes(const void* address) {    \
    OnVolatile(address, log2_bytes, AccessOp::kLoad, PC);  \
  }                                                        \
  void simt_volatile_store##bytes(const void* address) {   \
    OnVolatile(address, log2_bytes, AccessOp::kStore, PC); \
  }
ON_VOLATILE(1, 0)
ON_VOLATILE(2, 1)
ON_VOLATILE(4, 2)
ON_VOLATILE(8, 3)
ON_VOLATILE(16, 4)
#undef ON_VOLATILE

void simt_init() {}  // A module constructor calls it.

void* simt_memcpy(void* to, const void* from, size_t bytes) {
  OnRange(from, bytes, AccessOp::kLoad, PC);
  OnRange(to, bytes, AccessOp::kStore, PC);
  return memmove(to, from, bytes);
}
void* simt_memmove(void* to, const void* from, size_t bytes) {
  OnRange(from, bytes, AccessOp::kLoad, PC);
  OnRange(to, bytes, AccessOp::kStore, PC);
  return memmove(to, from, bytes);
}
void* simt_memset(void* to, int value, size_t bytes) {
  OnRange(to, bytes, AccessOp::kStore, PC);
  return memset(to, value, bytes);
}

// Whether the caller is a kernel: for the runtime of whole programs.
int simt_in_kernel() { return running_lane != nullptr ? 1 : 0; }

SimtIndex simt_thread_idx() {
  if (running_lane == nullptr) NotInKernel(PC);
  return running_lane->thread;
}
SimtIndex simt_block_idx() {
  if (running_lane == nullptr) NotInKernel(PC);
  return running_lane->worker->block_index(*running_lane);
}
SimtIndex simt_block_dim() {
  if (running_lane == nullptr) NotInKernel(PC);
  return running_lane->worker->block_dim();
}
SimtIndex simt_grid_dim() {
  if (running_lane == nullptr) NotInKernel(PC);
  return running_lane->worker->grid_dim();
}

// A component of each, for whole programs (run/include/simt_indices.h).
#define SIMT_INDEX(name)                                 \
  unsigned simt_##name##_x() { return simt_##name().x; } \
  unsigned simt_##name##_y() { return simt_##name().y; } \
  unsigned simt_##name##_z() { return simt_##name().z; }
SIMT_INDEX(thread_idx)
SIMT_INDEX(block_idx)
SIMT_INDEX(block_dim)
SIMT_INDEX(grid_dim)
#undef SIMT_INDEX

void simt_syncthreads() {
  running_lane->worker->Barrier(*running_lane, reinterpret_cast<uintptr_t>(PC));
}
int simt_syncthreads_count(int predicate) {
  return running_lane->worker->BarrierCount(*running_lane, predicate,
                                            reinterpret_cast<uintptr_t>(PC));
}
void simt_grid_barrier() {
  running_lane->worker->GridBarrier(*running_lane, reinterpret_cast<uintptr_t>(PC));
}
int simt_is_cooperative() {
  if (running_lane == nullptr) NotInKernel(PC);
  return running_lane->worker->IsCooperative() ? 1 : 0;
}
void simt_syncwarp(unsigned mask) {
  running_lane->worker->WarpSync(*running_lane, mask, reinterpret_cast<uintptr_t>(PC));
}
uint64_t simt_shuffle(unsigned mask, uint64_t value, int mode, int argument, int width) {
  return running_lane->worker->Shuffle(*running_lane, mask, value, mode, argument, width,
                                       reinterpret_cast<uintptr_t>(PC));
}
unsigned simt_ballot(unsigned mask, int predicate) {
  return running_lane->worker->Ballot(*running_lane, mask, predicate,
                                      reinterpret_cast<uintptr_t>(PC));
}
unsigned simt_active_mask() {
  return running_lane->worker->ActiveMask(*running_lane, reinterpret_cast<uintptr_t>(PC));
}

void simt_ptx(const char* text, uint64_t* operands, int count) {
  if (running_lane == nullptr) return;  // In host code, where nvcc refuses it.
  running_lane->worker->Ptx(*running_lane, text, operands, count, reinterpret_cast<uintptr_t>(PC));
}
void simt_wgmma(const char* text, uint64_t* operands, void* const* registers, int count) {
  if (running_lane == nullptr) return;
  running_lane->worker->Wgmma(*running_lane, text, operands, registers, count,
                              reinterpret_cast<uintptr_t>(PC));
}
unsigned simt_shared_address(const void* pointer) {
  return running_lane->worker->SharedAddress(*running_lane, pointer);
}

void simt_cp_async(void* shared, const void* global, size_t bytes, size_t zero_bytes) {
  running_lane->worker->CpAsync(*running_lane, shared, global, bytes, zero_bytes,
                                reinterpret_cast<uintptr_t>(PC));
}
void simt_cp_async_commit() { ++running_lane->async_group; }
void simt_cp_async_wait(unsigned groups_still_allowed_in_flight) {
  running_lane->worker->CpAsyncWait(*running_lane, groups_still_allowed_in_flight);
}

unsigned short simt_half_of(float value) { return stridewise::Fp16(value).bits; }
unsigned short simt_bfloat16_of(float value) { return stridewise::Bf16(value).bits; }
unsigned char simt_e4m3_of(float value) { return stridewise::E4m3(value).bits; }
unsigned char simt_e5m2_of(float value) { return stridewise::E5m2(value).bits; }
float simt_float_of_half(unsigned short bits) { return Typed<stridewise::Fp16>(bits); }
float simt_float_of_e4m3(unsigned char bits) { return Typed<stridewise::E4m3>(bits); }
float simt_float_of_e5m2(unsigned char bits) { return Typed<stridewise::E5m2>(bits); }
void simt_fence() {
  if (running_lane != nullptr) running_lane->worker->Fence(*running_lane);
}
void simt_atomic(void* address, size_t bytes) {
  OnAccess(address, __builtin_ctzll(bytes), AccessOp::kAtomic, PC);
}

}  // extern "C"
