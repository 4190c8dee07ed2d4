// The few rows or columns of TensorLines, in the registers of its warps: up to 16, each warp with
// its part of k.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_FEW_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_FEW_H_

#include <cstdint>

#include "matmul/device/mma/mma_sm80.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor/general_operand.h"
#include "matmul/device/tensor/lines_plan.h"

namespace stridewise {

// An instruction may multiply any 16 of k, if both operands have the same ones in the same places:
// of 32 of k a lane has the eight neighbours from lane % 4 * 8 on, of rows lane / 4 and 8 more.
template <typename Element>
class LinesFew {
 public:
  // Loads the warp's part, from `first` on; beyond `depth` it is 0. `scratch` is 1 KB of the warp.
  // What does not lie along k has eight rows or sixteen.
  __device__ void Load(const GeneralOperand& few, int first, int chunks, int depth, void* scratch) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // Along k a lane loads what it keeps, else eight neighbouring rows of one k.
    const int k = first + (few.k_major ? lane % 4 * 8 : lane);
    const int row = few.k_major ? lane / 4 : 0;
    const int64_t step = few.k_major ? kLinesChunk : kLinesChunk * few.ld;
    const int64_t eight = few.k_major ? 8 * few.ld : 8;
    const uint16_t* const at = few.data + (few.k_major ? row * few.ld + k : k * few.ld);
    const int64_t back = few.k_major ? -k : -k * few.ld;  // To the first of k.
    // Loads without a condition are under way together; rows that do not exist are the first one,
    // whose products nobody stores.
    const int64_t above = row < few.mn ? 0 : -row * few.ld;
    const int64_t below = row + 8 < few.mn ? eight : above;
#pragma unroll
    for (int j = 0; j < kLinesMaxChunks; ++j) {
      const int64_t forward = j < chunks && k + j * kLinesChunk < depth ? j * step : back;
      own_[j][0] = __ldg(reinterpret_cast<const uint4*>(at + above + forward));
      own_[j][1] = __ldg(reinterpret_cast<const uint4*>(at + below + forward));
    }
#pragma unroll
    for (int j = 0; j < kLinesMaxChunks; ++j) {
      if (k + j * kLinesChunk < depth) continue;
      own_[j][0] = own_[j][1] = make_uint4(0, 0, 0, 0);
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
