// Inline PTX. simt_library makes calls of asm statements (ptx/rewrite_asm.h):
//
//   asm volatile("add.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));
//   ::SimtPtx("add.u32 %0, %1, %2;", ::SimtOut(x), ::SimtIn(a), ::SimtIn(b));

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_PTX_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_PTX_H_

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#include "simt_entry_points.h"

template <typename T>
SIMT_INLINE uint64_t SimtBitsOf(T value) {
  if constexpr (std::is_pointer<T>::value) {
    return reinterpret_cast<uintptr_t>(value);
  } else if constexpr (std::is_same<T, float>::value) {
    return __builtin_bit_cast(unsigned, value);
  } else if constexpr (std::is_same<T, double>::value) {
    return __builtin_bit_cast(uint64_t, value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

template <typename T>
SIMT_INLINE T SimtOfBits(uint64_t bits) {
  if constexpr (std::is_pointer<T>::value) {
    return reinterpret_cast<T>(bits);
  } else if constexpr (std::is_same<T, float>::value) {
    return __builtin_bit_cast(float, static_cast<unsigned>(bits));
  } else if constexpr (std::is_same<T, double>::value) {
    return __builtin_bit_cast(double, bits);
  } else {
    return static_cast<T>(bits);
  }
}

struct SimtPtxInput {
  uint64_t bits;
  SIMT_INLINE uint64_t Bits() const { return bits; }
  SIMT_INLINE uint64_t BitsOfInput() const { return bits; }
  SIMT_INLINE void* Register() const { return nullptr; }
  SIMT_INLINE void Take(uint64_t) const {}
};

template <typename T, bool kIsRead>
struct SimtPtxOutput {
  T& variable;
  SIMT_INLINE uint64_t Bits() const {
    if constexpr (kIsRead) return SimtBitsOf(variable);
    return 0;
  }
  SIMT_INLINE void Take(uint64_t bits) const { variable = SimtOfBits<T>(bits); }
  SIMT_INLINE uint64_t BitsOfInput() const { return 0; }
  SIMT_INLINE void* Register() const {
    static_assert(sizeof(T) == 4, "registers of wgmma have 32 bits");
    return &variable;
  }
};

template <typename T>
SIMT_INLINE SimtPtxInput SimtIn(T value) {
  return {SimtBitsOf(value)};
}
template <typename T>
SIMT_INLINE SimtPtxOutput<T, false> SimtOut(T& variable) {
  return {variable};
}
template <typename T>
SIMT_INLINE SimtPtxOutput<T, true> SimtInOut(T& variable) {
  return {variable};
}

template <typename... Operands>
SIMT_INLINE void SimtPtx(const char* text, Operands... operands) {
  constexpr int kCount = static_cast<int>(sizeof...(Operands));
  uint64_t bits[kCount + 1] = {operands.Bits()..., 0};
  simt_ptx(text, bits, kCount);
  int next = 0;
  (operands.Take(bits[next++]), ...);
}

// Of wgmma.mma_async: the runtime reads and writes its registers where they are, and so knows what
// the thread does with them before it has waited.
template <typename... Operands>
SIMT_INLINE void SimtWgmma(const char* text, Operands... operands) {
  constexpr int kCount = static_cast<int>(sizeof...(Operands));
  uint64_t bits[kCount + 1] = {operands.BitsOfInput()..., 0};
  void* registers[kCount + 1] = {operands.Register()..., nullptr};
  simt_wgmma(text, bits, registers, kCount);
}

// No instruction: it holds the compiler back, as in front of a wgmma's registers, and reads
// nothing.
template <typename... Operands>
SIMT_INLINE void SimtNoPtx(const char* /*text*/, Operands... /*operands*/) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

SIMT_INLINE size_t __cvta_generic_to_shared(const void* pointer) {
  return simt_shared_address(pointer);
}

// The same place in the shared memory of block `rank` of the cluster.
template <typename T>
SIMT_INLINE T* __cluster_map_shared_rank(T* pointer, unsigned rank) {
  T* there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(pointer), "r"(rank));
  return there;
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_PTX_H_
