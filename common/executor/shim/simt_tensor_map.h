// What the host executor keeps in a CUtensorMap, and the function that stands in for the driver's
// cuTensorMapEncodeTiled().

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_TENSOR_MAP_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_TENSOR_MAP_H_

#include <stdint.h>

#define SIMT_TENSOR_MAP_MAGIC 0x53544d50u

enum { kSimtMaxTensorRank = 5 };

// The first dimension is the fastest, and has no stride.
struct SimtTensorMap {
  uint64_t base;
  uint64_t stride_bytes[kSimtMaxTensorRank];
  uint32_t last[kSimtMaxTensorRank];  // Extents, less one.
  uint16_t box[kSimtMaxTensorRank];
  uint8_t element_bytes;
  uint8_t rank;
  uint8_t swizzle_bytes;  // 32, 64 or 128; 0: none.
  bool rounds_to_tf32;    // Floats, on their way to shared memory.
  uint32_t magic;
};

// Returns whether the driver would take these, of which element strides other than 1 and
// interleaved layouts are not known here. `swizzle` is the driver's number of it.
inline bool SimtEncodeTensorMap(uint8_t element_bytes, uint32_t rank, const void* address,
                                const uint64_t* extents, const uint64_t* strides,
                                const uint32_t* box, uint32_t swizzle, struct SimtTensorMap* map) {
  const auto base = reinterpret_cast<uintptr_t>(address);
  if (element_bytes == 0 || rank == 0 || rank > kSimtMaxTensorRank || base % 16 != 0 ||
      swizzle > 3) {
    return false;
  }
  const uint32_t swizzle_bytes = swizzle == 0 ? 0 : 16u << swizzle;
  const uint32_t row_bytes = box[0] * element_bytes;
  if (row_bytes % 16 != 0 || (swizzle_bytes != 0 && row_bytes > swizzle_bytes)) return false;
  *map = SimtTensorMap{};
  for (uint32_t i = 0; i < rank; ++i) {
    if (extents[i] == 0 || extents[i] > uint64_t{1} << 32 || box[i] == 0 || box[i] > 256) {
      return false;
    }
    if (i > 0 &&
        (strides[i - 1] % 16 != 0 || strides[i - 1] == 0 || strides[i - 1] >= uint64_t{1} << 40)) {
      return false;
    }
    map->last[i] = static_cast<uint32_t>(extents[i] - 1);
    map->box[i] = static_cast<uint16_t>(box[i]);
    map->stride_bytes[i] = i == 0 ? element_bytes : strides[i - 1];
  }
  map->base = base;
  map->element_bytes = element_bytes;
  map->rank = static_cast<uint8_t>(rank);
  map->swizzle_bytes = static_cast<uint8_t>(swizzle_bytes);
  map->magic = SIMT_TENSOR_MAP_MAGIC;
  return true;
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_TENSOR_MAP_H_
