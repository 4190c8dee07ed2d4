// Atomic operations and fences.
//
// Blocks may run on several cores at once, so the operations are really atomic.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_ATOMICS_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_ATOMICS_H_

#include <type_traits>

#include "simt_entry_points.h"

// Out of line and not instrumented: to the executor an atomic is the one call of simt_atomic(), not
// the loads and the loop in here.
#define SIMT_UNSEEN static __attribute__((noinline, no_sanitize("coverage")))

template <typename T, typename Function>
SIMT_UNSEEN T SimtUpdate(T* address, Function new_value) {
  T old;
  __atomic_load(address, &old, __ATOMIC_SEQ_CST);
  T next = new_value(old);
  while (!__atomic_compare_exchange(address, &old, &next, /*weak=*/false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
    next = new_value(old);
  }
  return old;
}

// The value's type is that of the pointer, so that atomicAdd(&unsigned_counter, 1) is fine.
#define SIMT_ATOMIC(name, new_value)                                       \
  template <typename T>                                                    \
  SIMT_INLINE T name(T* address, std::common_type_t<T> value) {            \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");       \
    simt_atomic(address, sizeof(T));                                       \
    return SimtUpdate(address, [value](T old) -> T { return new_value; }); \
  }
SIMT_ATOMIC(atomicAdd, old + value)
SIMT_ATOMIC(atomicSub, old - value)
SIMT_ATOMIC(atomicMin, old < value ? old : value)
SIMT_ATOMIC(atomicMax, old > value ? old : value)
SIMT_ATOMIC(atomicExch, (static_cast<void>(old), value))
SIMT_ATOMIC(atomicAnd, old& value)
SIMT_ATOMIC(atomicOr, old | value)
SIMT_ATOMIC(atomicXor, old ^ value)
SIMT_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
SIMT_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef SIMT_ATOMIC

template <typename T>
SIMT_INLINE T atomicCAS(T* address, std::common_type_t<T> compare, std::common_type_t<T> value) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "2, 4 or 8 bytes");
  simt_atomic(address, sizeof(T));
  return SimtUpdate(address, [=](T old) -> T { return old == compare ? value : old; });
}

#undef SIMT_UNSEEN

SIMT_INLINE void __threadfence() { simt_fence(); }
SIMT_INLINE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SIMT_INLINE void __threadfence_system() { simt_fence(); }

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_ATOMICS_H_
