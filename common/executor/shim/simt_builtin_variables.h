// threadIdx, blockIdx, blockDim, gridDim and warpSize.
//
// Reading a member calls a function of the runtime (a property, as Clang's own CUDA headers have
// it): no load that would count as an access, and no macro, so that a struct may have a member of
// the same name.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_BUILTIN_VARIABLES_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_BUILTIN_VARIABLES_H_

#include "simt_entry_points.h"
#include "simt_vector_types.h"

#define SIMT_BUILTIN_VARIABLE(Type, name, entry_point)                 \
  struct Type {                                                        \
    __declspec(property(get = SimtGetX)) unsigned x;                   \
    __declspec(property(get = SimtGetY)) unsigned y;                   \
    __declspec(property(get = SimtGetZ)) unsigned z;                   \
    static SIMT_INLINE unsigned SimtGetX() { return entry_point().x; } \
    static SIMT_INLINE unsigned SimtGetY() { return entry_point().y; } \
    static SIMT_INLINE unsigned SimtGetZ() { return entry_point().z; } \
    SIMT_INLINE operator dim3() const { return dim3(x, y, z); }        \
    SIMT_INLINE operator uint3() const { return uint3(x, y, z); }      \
  };                                                                   \
  static constexpr Type name{};

SIMT_BUILTIN_VARIABLE(SimtThreadIdx, threadIdx, simt_thread_idx)
SIMT_BUILTIN_VARIABLE(SimtBlockIdx, blockIdx, simt_block_idx)
SIMT_BUILTIN_VARIABLE(SimtBlockDim, blockDim, simt_block_dim)
SIMT_BUILTIN_VARIABLE(SimtGridDim, gridDim, simt_grid_dim)
static constexpr int warpSize = 32;

#undef SIMT_BUILTIN_VARIABLE

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_BUILTIN_VARIABLES_H_
