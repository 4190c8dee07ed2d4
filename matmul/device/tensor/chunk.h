// Eight 16-bit elements of any alignment. A row that begins at an odd element has no vector that is
// aligned; eight of its elements lie in two aligned vectors of 16 bytes, which are loaded and
// shifted: two loads instead of eight, and the L1 has the second one.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_CHUNK_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_CHUNK_H_

#include <cuda_runtime.h>

#include <cstdint>

namespace stridewise {

constexpr int kChunk = 8;

// Loads 16 bytes, or 0 where not `wanted`: without a branch, so that the loads of several chunks
// are under way together.
__device__ inline uint4 LoadVectorIf(bool wanted, uintptr_t from) {
  uint4 value;
  asm volatile(
      "{\n"
      ".reg .pred wanted;\n"
      "setp.ne.b32 wanted, %5, 0;\n"
      "mov.b32 %0, 0;\n"
      "mov.b32 %1, 0;\n"
      "mov.b32 %2, 0;\n"
      "mov.b32 %3, 0;\n"
      "@wanted ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];\n"
      "}\n"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(from), "r"(static_cast<int>(wanted)));
  return value;
}

// Returns the 16 bytes that begin `shift` bytes, an even number below 16, after those of `low`,
// which `high` follows.
__device__ inline uint4 ShiftVectors(const uint4& low, const uint4& high, int shift) {
  uint32_t w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  if (shift != 0) {
    if ((shift & 8) != 0) {
#pragma unroll
      for (int i = 0; i < 6; ++i) w[i] = w[i + 2];
    }
    if ((shift & 4) != 0) {
#pragma unroll
      for (int i = 0; i < 5; ++i) w[i] = w[i + 1];
    }
    const uint32_t bits = (shift & 2) * 8;
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = __funnelshift_r(w[i], w[i + 1], bits);
  }
  return make_uint4(w[0], w[1], w[2], w[3]);
}

class Chunk {
 public:
  // Starts to load the first `left` elements at `from`, of which eight are used at most; the others
  // are 0. No vector is read that goes on after `end`, the end of the matrix: where one would,
  // LoadTail() has to be called.
  __device__ void Load(const uint16_t* from, int64_t left, uintptr_t end) {
    const auto address = reinterpret_cast<uintptr_t>(from);
    const int shift = static_cast<int>(address % 16);
    const int count = left < 0 ? 0 : left < kChunk ? static_cast<int>(left) : kChunk;
    const uintptr_t vector = address - shift;
    const bool second = shift + 2 * count > 16;
    const bool tail = count > 0 && vector + (second ? 32 : 16) > end;
    low_ = LoadVectorIf(count > 0 && !tail, vector);
    high_ = LoadVectorIf(second && !tail, vector + 16);
    state_ = (tail ? kTail : shift) | count << 8;
  }

  // Loads the elements one by one where Load() could not. `from` is what it was for that.
  __device__ void LoadTail(const uint16_t* from) {
    if ((state_ & kTail) == 0) return;
    const int count = state_ >> 8;
    uint32_t words[4] = {};
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      if (i < count) words[i / 2] |= static_cast<uint32_t>(__ldg(from + i)) << i % 2 * 16;
    }
    low_ = make_uint4(words[0], words[1], words[2], words[3]);
  }

  // Returns the elements, for which the loads have to have arrived.
  __device__ uint4 Elements() const {
    const int shift = state_ & 15;
    const int count = state_ >> 8;
    const uint4 all = ShiftVectors(low_, high_, shift);
    uint32_t w[4] = {all.x, all.y, all.z, all.w};
    if (count < kChunk) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (count <= 2 * i) w[i] = 0;
        if (count == 2 * i + 1) w[i] &= 0xffff;
      }
    }
    return make_uint4(w[0], w[1], w[2], w[3]);
  }

 private:
  static constexpr int kTail = 16;

  uint4 low_, high_;
  int state_;  // Bytes from low_'s first one to the first element, kTail, and 256 times the count.
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_CHUNK_H_
