// An operand of at most 64 rows or columns that lie next to each other in memory: a row of shared
// memory holds one k and all of them, 16 to 128 bytes. In panels of 128 bytes the TMA would fill
// what lies beyond with zeros, and 8 columns would take the memory and the copies of 64.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_NARROW_PANEL_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_NARROW_PANEL_H_

#include <cuda.h>

#include <cstdint>

namespace stridewise {

// Returns the TMA's swizzle of rows of 16, 32, 64 or 128 bytes: their pieces of 16 bytes are
// exchanged with those of neighbouring rows, which a single piece needs not.
constexpr CUtensorMapSwizzle NarrowPanelSwizzle(int row_bytes) {
  return row_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : row_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : row_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                           : CU_TENSOR_MAP_SWIZZLE_NONE;
}

// Describes a panel at `address`, a multiple of 1024, to wgmma.
template <int kRowBytes>
__device__ inline uint64_t NarrowPanelDescriptor(uint32_t address) {
  static_assert(kRowBytes == 16 || kRowBytes == 32 || kRowBytes == 64 || kRowBytes == 128);
  constexpr uint64_t kSwizzle = kRowBytes == 128  ? 1
                                : kRowBytes == 64 ? 2
                                : kRowBytes == 32 ? 3
                                                  : 0;
  constexpr uint64_t kGroup = 8 * kRowBytes >> 4;  // Eight of k.
  // The offset to the next eight of k is the second one, or without a swizzle the first.
  constexpr int kBit = kRowBytes == 16 ? 16 : 32;
  return kSwizzle << 62 | kGroup << kBit | (address & 0x3ffff) >> 4;
}

// What to add to a descriptor for the next 16 of k, those of an instruction.
template <int kRowBytes>
constexpr uint64_t kNarrowPanelStep = 16 * kRowBytes >> 4;

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_NARROW_PANEL_H_
