#include "common/executor/ptx/shared_descriptor.h"

#include <cstring>

namespace stridewise::executor {
namespace {

constexpr uint32_t kGroup = 8;  // Rows of a core matrix.

// Bits 0-13, 16-29, 32-45, 49-51 and 62-63 are fields.
constexpr uint64_t kFields = 0xc00e3fff3fff3fff;

// Exchanges the pieces of a row: bits 4 and up of the address change with bits 7 and up, counted
// from where the pattern starts.
uint32_t Swizzle(const SharedDescriptor& descriptor, uint32_t address) {
  if (descriptor.swizzle_bytes == 0) return address;
  const uint32_t mask = descriptor.swizzle_bytes / kDescriptorPieceBytes - 1;
  return address ^ (((address >> 7) - descriptor.base_offset) & mask) << 4;
}

}  // namespace

SharedDescriptor DecodeSharedDescriptor(uint64_t bits) {
  constexpr uint32_t kSwizzles[] = {0, 128, 64, 32};
  const auto field = [bits](int from) { return static_cast<uint32_t>(bits >> from & 0x3fff) << 4; };
  SharedDescriptor descriptor;
  descriptor.address = field(0);
  descriptor.leading_bytes = field(16);
  descriptor.stride_bytes = field(32);
  descriptor.base_offset = static_cast<uint32_t>(bits >> 49 & 7);
  descriptor.swizzle_bytes = kSwizzles[bits >> 62];
  descriptor.has_reserved_bits = (bits & ~kFields) != 0;
  return descriptor;
}

uint32_t ElementAddress(const SharedOperand& operand, int mn, int k) {
  const SharedDescriptor& d = operand.descriptor;
  const auto across = static_cast<uint32_t>(operand.mn_major ? k : mn);
  const uint32_t along = static_cast<uint32_t>((operand.mn_major ? mn : k) * operand.element_bytes);
  const uint32_t row = across % kGroup;
  const uint32_t group = across / kGroup;
  const uint32_t width = d.swizzle_bytes == 0 ? kDescriptorPieceBytes : d.swizzle_bytes;
  // A K-major operand has no second swizzled row along k: its descriptor moves on instead.
  const bool one_row = !operand.mn_major && d.swizzle_bytes != 0;
  const uint32_t piece = one_row ? 0 : along / width;
  const uint32_t in_row = one_row ? along : along % width;
  // MN-major without a swizzle exchanges what the two offsets mean.
  const bool exchanged = operand.mn_major && d.swizzle_bytes == 0;
  const uint32_t per_piece = exchanged ? d.stride_bytes : d.leading_bytes;
  const uint32_t per_group = exchanged ? d.leading_bytes : d.stride_bytes;
  return Swizzle(d, d.address + row * width + in_row + piece * per_piece + group * per_group);
}

std::vector<uint32_t> PieceAddresses(const SharedOperand& operand) {
  const int each = kDescriptorPieceBytes / operand.element_bytes;
  const int along = operand.mn_major ? operand.extent : operand.depth;
  const int across = operand.mn_major ? operand.depth : operand.extent;
  std::vector<uint32_t> addresses;
  addresses.reserve(static_cast<size_t>(across) * (along / each));
  for (int i = 0; i < across; ++i) {
    for (int j = 0; j < along; j += each) {
      addresses.push_back(operand.mn_major ? ElementAddress(operand, j, i)
                                           : ElementAddress(operand, i, j));
    }
  }
  return addresses;
}

bool LoadSharedOperand(const SharedOperand& operand, const uint8_t* shared, size_t bytes,
                       uint32_t* to) {
  const std::vector<uint32_t> pieces = PieceAddresses(operand);
  for (const uint32_t address : pieces) {
    if (address + size_t{kDescriptorPieceBytes} > bytes) return false;
  }
  const int size = operand.element_bytes;
  const int each = kDescriptorPieceBytes / size;
  const int in_row = (operand.mn_major ? operand.extent : operand.depth) / each;
  for (size_t p = 0; p < pieces.size(); ++p) {
    const int across = static_cast<int>(p) / in_row;
    const int along = static_cast<int>(p) % in_row * each;
    for (int i = 0; i < each; ++i) {
      uint32_t element = 0;
      std::memcpy(&element, shared + pieces[p] + i * size, static_cast<size_t>(size));
      const int mn = operand.mn_major ? along + i : across;
      const int k = operand.mn_major ? across : along + i;
      to[mn * operand.depth + k] = element;
    }
  }
  return true;
}

}  // namespace stridewise::executor
