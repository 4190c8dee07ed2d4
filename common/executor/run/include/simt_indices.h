// threadIdx, blockIdx, blockDim, gridDim and warpSize of whole programs, in place of the shim's
// header of these: each component is one call that returns 32 bits, as it is one register of a GPU.
// So an optimizer that has compared threadIdx.x with 0 knows the addresses that depend on it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_INDICES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_INDICES_H_

// Constant for a thread. IR of these calls gets their ranges (optimizer.cc).
#define SIMT_INDEX(Type, name, entry_point)                              \
  extern "C" __attribute__((const)) unsigned entry_point##_x();          \
  extern "C" __attribute__((const)) unsigned entry_point##_y();          \
  extern "C" __attribute__((const)) unsigned entry_point##_z();          \
  struct Type {                                                          \
    __declspec(property(get = SimtGetX)) unsigned x;                     \
    __declspec(property(get = SimtGetY)) unsigned y;                     \
    __declspec(property(get = SimtGetZ)) unsigned z;                     \
    static SIMT_INLINE unsigned SimtGetX() { return entry_point##_x(); } \
    static SIMT_INLINE unsigned SimtGetY() { return entry_point##_y(); } \
    static SIMT_INLINE unsigned SimtGetZ() { return entry_point##_z(); } \
    SIMT_INLINE operator dim3() const { return dim3(x, y, z); }          \
    SIMT_INLINE operator uint3() const { return uint3(x, y, z); }        \
  };                                                                     \
  static constexpr Type name{};

SIMT_INDEX(SimtThreadIdx, threadIdx, simt_thread_idx)
SIMT_INDEX(SimtBlockIdx, blockIdx, simt_block_idx)
SIMT_INDEX(SimtBlockDim, blockDim, simt_block_dim)
SIMT_INDEX(SimtGridDim, gridDim, simt_grid_dim)
static constexpr int warpSize = 32;

#undef SIMT_INDEX

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_INDICES_H_
