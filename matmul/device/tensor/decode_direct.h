// The end of a tile of TensorDecode whose C is only alpha times the sums: they go to C from the
// registers. Where two blocks divide k, each finishes half of the columns: it sends the other half
// to its partner, whose stages may still be full, and does not wait until that one can be read.
// With sums that both keep and then read from each other 16 x 4096 x 14336 takes half a microsecond
// more on an H200.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_DIRECT_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_DIRECT_H_

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/tensor/epilogue.h"

namespace stridewise {

// Returns the bytes that a partner sends to a block whose tile has `cols` columns.
constexpr int SentBytes(int cols) { return 64 * (cols / 2) * static_cast<int>(sizeof(float)); }

// Stores a thread's sums, see wgmma_sm90.h, of the first of which `row` and `col` are the place.
template <typename Out, int kSums>
__device__ inline void StoreSumsDirectly(const TensorOutput& c, const float (&d)[kSums], int row,
                                         int64_t col, int64_t batch) {
  Out* const at = static_cast<Out*>(c.data) + batch * c.stride + row * c.ld + col;
#pragma unroll
  for (int i = 0; i < kSums; i += 2) {
    const int below = i / 2 % 2 * 8;
    if (row + below >= c.rows || col + i / 4 * 8 >= c.cols) continue;
    struct alignas(2 * sizeof(Out)) Two {
      Out first, second;
    };
    *reinterpret_cast<Two*>(at + below * c.ld + i / 4 * 8) = {static_cast<Out>(c.alpha * d[i]),
                                                              static_cast<Out>(c.alpha * d[i + 1])};
  }
}

// Sends half of a thread's sums to block `rank ^ 1`, where they lie at `sent`, and leaves the other
// half in `own`. The block has met its partner before.
template <int kSums>
__device__ inline void SendHalf(const float (&d)[kSums], const float* sent, int rank,
                                float (&own)[kSums / 2]) {
  const uint32_t to = AddressInBlock(sent, rank ^ 1) + threadIdx.x * 16;
#pragma unroll
  for (int i = 0; i < kSums / 2; i += 4) {
    float other[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float low = d[i + j];
      const float high = d[kSums / 2 + i + j];
      own[i + j] = rank == 0 ? low : high;
      other[j] = rank == 0 ? high : low;
    }
    asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + i / 4 * 128 * 16),
                 "f"(other[0]), "f"(other[1]), "f"(other[2]), "f"(other[3])
                 : "memory");
  }
}

// Adds what the partner has sent.
template <int kHalf>
__device__ inline void AddSent(const float* sent, float (&own)[kHalf]) {
#pragma unroll
  for (int i = 0; i < kHalf; i += 4) {
    const auto part = reinterpret_cast<const float4*>(sent)[i / 4 * 128 + threadIdx.x];
    own[i] += part.x;
    own[i + 1] += part.y;
    own[i + 2] += part.z;
    own[i + 3] += part.w;
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_DIRECT_H_
