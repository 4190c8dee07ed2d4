// Descriptors of matrices in shared memory, as wgmma takes them. PTX ISA: "Matrix Descriptor
// Format", "Shared Memory Matrix Layout", "Strides". Compared with a GPU without a swizzle only
// (tensor_bits_test).

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_SHARED_DESCRIPTOR_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_SHARED_DESCRIPTOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stridewise::executor {

inline constexpr int kDescriptorPieceBytes = 16;  // What a swizzle moves as a whole.

struct SharedDescriptor {
  uint32_t address = 0;  // In the shared window; like both offsets a multiple of 16 below 2^18.
  uint32_t leading_bytes = 0;
  uint32_t stride_bytes = 0;
  uint32_t base_offset = 0;    // Bits 7 to 9 of the address where the swizzle's pattern starts.
  uint32_t swizzle_bytes = 0;  // 32, 64 or 128; 0: none.
  // Whether bits are set that belong to no field, as where an address was added to that is too
  // large.
  bool has_reserved_bits = false;
};

SharedDescriptor DecodeSharedDescriptor(uint64_t bits);

// An operand of `extent` rows of A, or columns of B, and `depth` elements of k.
struct SharedOperand {
  SharedDescriptor descriptor;
  bool mn_major = false;  // Neighbours in memory are neighbours along m or n, and not along k.
  int element_bytes = 2;
  int extent = 64;
  int depth = 16;
};

// Returns the address, in the shared window, of an element's first byte.
uint32_t ElementAddress(const SharedOperand& operand, int mn, int k);

// Returns the addresses of all pieces of 16 bytes that the operand consists of: along the major
// direction first. REQUIRES: its elements along that direction fill whole pieces.
std::vector<uint32_t> PieceAddresses(const SharedOperand& operand);

// Copies the elements from `shared`, which has `bytes` bytes, to to[mn * depth + k], each to the
// low bits of a word. Returns false, and copies nothing, where a piece lies beyond `bytes`.
bool LoadSharedOperand(const SharedOperand& operand, const uint8_t* shared, size_t bytes,
                       uint32_t* to);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_SHARED_DESCRIPTOR_H_
