// The few rows or columns of TensorLines, in the registers of its warps: up to 16, each warp with
// its part of k.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_FEW_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_FEW_H_

#include <cstdint>

#include "matmul/device/mma/mma_sm80.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor/chunk.h"
#include "matmul/device/tensor/general_operand.h"
#include "matmul/device/tensor/lines_plan.h"

namespace stridewise {

// An instruction may multiply any 16 of k, if both operands have the same ones in the same places:
// of 32 of k a lane has the eight neighbours from lane % 4 * 8 on, of rows lane / 4 and 8 more.
template <typename Element>
class LinesFew {
 public:
  // Loads the warp's part, from `first` on; beyond `depth` it is 0. `scratch` is 1 KB of the warp.
  __device__ void Load(const GeneralOperand& few, int first, int chunks, int depth, void* scratch) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int j = 0; j < kLinesMaxChunks; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // Along k a lane loads what it keeps, else eight neighbouring rows of one k.
        const int row = half * 8 + (few.k_major ? lane / 4 : 0);
        const int k = first + j * kLinesChunk + (few.k_major ? lane % 4 * 8 : lane);
        const bool inside = j < chunks && row < few.mn && k < depth;
        const uint16_t* const at =
            few.data + (few.k_major ? row * few.ld + k : int64_t{k} * few.ld + row);
        own_[j][half] = LoadVectorIf(inside && (few.k_major || row + 8 <= few.mn),
                                     reinterpret_cast<uintptr_t>(at));
        if (inside && !few.k_major && row + 8 > few.mn) {
          own_[j][half] = LoadOneByOne(at, static_cast<int>(few.mn) - row);
        }
      }
    }
    if (!few.k_major) Turn(chunks, scratch);
  }

  // Multiplies them by eight lines of the many: `from` is where this lane's first of k lies.
  __device__ void Multiply(const char* from, int chunks, float (&d)[4]) const {
    float odd[4] = {};
#pragma unroll
    for (int j = 0; j < kLinesMaxChunks; ++j) {
      if (j >= chunks) break;
      const auto all = *reinterpret_cast<const uint4*>(from + j * kLinesChunk * 2);
      const uint32_t many[2][2] = {{all.x, all.y}, {all.z, all.w}};
      const uint32_t first[4] = {own_[j][0].x, own_[j][1].x, own_[j][0].y, own_[j][1].y};
      const uint32_t second[4] = {own_[j][0].z, own_[j][1].z, own_[j][0].w, own_[j][1].w};
      MultiplyAdd(first, many[0], d, Element());
      MultiplyAdd(second, many[1], odd, Element());
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) d[i] += odd[i];
  }

 private:
  // Returns the first `count` of eight neighbours, and 0 for the others.
  __device__ static uint4 LoadOneByOne(const uint16_t* from, int count) {
    uint32_t words[4] = {};
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      if (i < count) words[i / 2] |= static_cast<uint32_t>(__ldg(from + i)) << i % 2 * 16;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
  }

  // Exchanges vectors along the rows for those along k: 32 lines of 16 rows lie in shared memory,
  // and the matrices that a lane gets have their lines in the order in which it keeps k.
  __device__ void Turn(int chunks, void* scratch) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int line = lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2;
    auto* const lines = static_cast<uint4*>(scratch);
    const uint32_t from = SharedAddress(lines) + line * 32;
#pragma unroll
    for (int j = 0; j < kLinesMaxChunks; ++j) {
      if (j >= chunks) break;
      lines[lane * 2] = own_[j][0];
      lines[lane * 2 + 1] = own_[j][1];
      __syncwarp();
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        uint32_t turned[4];
        LoadTransposedMatrices(from + half * 16, turned);
        own_[j][half] = make_uint4(turned[0], turned[1], turned[2], turned[3]);
      }
      __syncwarp();
    }
  }

  uint4 own_[kLinesMaxChunks][2];
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_FEW_H_
